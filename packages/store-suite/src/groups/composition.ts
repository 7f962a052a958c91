/** Several limits are one question: all admit and are charged, or none is. */
import { strict as assert } from 'node:assert';
import type { AskOutcome, Charge } from '@limiter/core';
import fc from 'fast-check';
import { type Bench, only } from '../bench.js';
import type { Group } from '../check.js';
import { RULE_KINDS, ruleOf } from '../histories.js';
import { forAll } from '../property.js';
import { bucket, clockWindow, firstRequestWindow, LONG, log } from '../rules.js';

const remaining = (outcome: AskOutcome): readonly number[] => outcome.verdicts.map((verdict) => verdict.remaining);
const charged = (outcome: AskOutcome): readonly boolean[] => outcome.verdicts.map((verdict) => verdict.charged);

async function otherAxis(bench: Bench): Promise<void> {
  const device = bench.charge(log(1, LONG), bench.name('device'));
  const organisation = bench.beside(device, clockWindow(100, LONG), 'organisation');
  for (let i = 0; i < 4; i += 1) {
    const outcome = await bench.consume(device, organisation);
    assert.equal(outcome.allowed, i === 0);
    assert.deepEqual(remaining(outcome), [0, 99]);
    assert.deepEqual(charged(outcome), [i === 0, i === 0]);
  }
}

async function anyPosition(bench: Bench): Promise<void> {
  const name = bench.name('full');
  for (const position of [0, 1, 2]) {
    const full = bench.charge(clockWindow(1, LONG), name, 1, { values: [`at ${position}`] });
    await bench.consume(full);
    const charges = [
      bench.beside(full, log(5, LONG), `log${position}`),
      bench.beside(full, bucket(5, 1, LONG), `bucket${position}`),
    ];
    charges.splice(position, 0, full);
    const outcome = await bench.consume(...charges);
    assert.equal(outcome.allowed, false);
    assert.deepEqual(
      outcome.verdicts.map(({ admits }) => admits),
      [0, 1, 2].map((at) => at !== position),
      'each limit says for itself whether it admits',
    );
    assert.deepEqual(charged(outcome), [false, false, false]);
    assert.deepEqual(
      remaining(outcome),
      [0, 1, 2].map((at) => (at === position ? 0 : 5)),
    );
  }
}

async function denialDominates(bench: Bench): Promise<void> {
  const refusing = bench.charge(clockWindow(1, LONG), bench.name('refusing'));
  const impossible = { ...bench.beside(refusing, log(1, LONG), 'impossible', 2), enforce: false };
  const busy = bench.beside(refusing, bucket(10, 1, LONG), 'busy', 9);
  await bench.consume(refusing, busy);
  const outcome = await bench.consume(impossible, refusing, { ...busy, cost: 1 });
  const [never, denied, admitting] = outcome.verdicts;
  assert.equal(outcome.allowed, false, 'the limit that admits does not outvote, however much of it is used');
  assert.deepEqual([never?.admits, denied?.admits, admitting?.admits], [false, false, true]);
  assert.equal(never?.retryAfterMs, Number.POSITIVE_INFINITY, 'every limit tells its own wait');
  assert.ok(denied !== undefined && denied.retryAfterMs > 0 && denied.retryAfterMs <= LONG);
  assert.equal(admitting?.retryAfterMs, 0);
  assert.equal(
    (await bench.consume(impossible, { ...busy, cost: 1 })).allowed,
    true,
    'a shadow limit that never admits refuses nothing',
  );
}

async function ownCosts(bench: Bench): Promise<void> {
  const requests = bench.charge(firstRequestWindow(10, LONG), bench.name('requests'), 1);
  const bytes = bench.beside(requests, log(1_000_000, LONG), 'bytes', 300_000);
  const items = bench.beside(requests, bucket(500, 1, LONG), 'items', 300);
  assert.deepEqual(remaining(await bench.consume(requests, bytes, items)), [9, 700_000, 200]);
  const refused = await bench.consume(requests, bytes, items);
  assert.deepEqual(
    refused.verdicts.map(({ admits }) => admits),
    [true, true, false],
  );
  assert.deepEqual(remaining(refused), [9, 700_000, 200]);
}

async function costZeroBeside(bench: Bench): Promise<void> {
  const full = bench.charge(clockWindow(1, LONG), bench.name('full'), 1);
  await bench.consume(full);
  const outcome = await bench.consume({ ...full, cost: 0 }, bench.beside(full, log(5, LONG), 'other', 2));
  assert.equal(outcome.allowed, true);
  assert.deepEqual(charged(outcome), [false, true]);
  assert.deepEqual(remaining(outcome), [0, 3], 'its status is reported all the same');
}

async function shadowNeverRefuses(bench: Bench): Promise<void> {
  const shadow = bench.charge(log(1, LONG), bench.name('shadow'), 1, { enforce: false });
  const enforced = bench.beside(shadow, clockWindow(3, LONG), 'enforced');
  const outcomes: AskOutcome[] = [];
  for (let i = 0; i < 4; i += 1) outcomes.push(await bench.consume(shadow, enforced));
  assert.deepEqual(
    outcomes.map(({ allowed }) => allowed),
    [true, true, true, false],
  );
  assert.deepEqual(
    outcomes.map((outcome) => charged(outcome)),
    [
      [true, true],
      [false, true],
      [false, true],
      [false, false],
    ],
    'it is charged when it admits, and only then',
  );
  assert.ok((outcomes[1] as AskOutcome).verdicts[0]?.retryAfterMs, 'it says how long it would have refused');
}

async function shadowNotChargedByDenial(bench: Bench): Promise<void> {
  const full = bench.charge(clockWindow(0, LONG), bench.name('full'));
  const shadow = { ...bench.beside(full, log(5, LONG), 'shadow'), enforce: false };
  const denied = await bench.consume(shadow, full);
  assert.equal(denied.allowed, false);
  assert.deepEqual(remaining(denied), [5, 0]);
  const alone = await bench.consume({ ...full, enforce: false });
  assert.deepEqual(
    [alone.allowed, only(alone).admits],
    [true, false],
    'with shadow limits only, everything is allowed',
  );
}

async function twentyLimits(bench: Bench): Promise<void> {
  const first = bench.charge(log(20, LONG), bench.name('limit0'));
  const charges = [first];
  for (let i = 1; i < 20; i += 1) {
    const rule = [log, clockWindow, firstRequestWindow][i % 3]!(20 - i, LONG);
    charges.push(bench.beside(first, rule, `limit${i}`));
  }
  assert.equal((await bench.consume(...charges)).allowed, true);
  const refused = await bench.consume(...charges);
  assert.equal(refused.allowed, false, 'the twentieth admits one');
  assert.deepEqual(
    remaining(refused),
    charges.map((_, i) => 19 - i),
  );
}

async function anyNumberOfLimits(bench: Bench): Promise<void> {
  const limit = fc.record({
    rule: fc.constantFrom(...RULE_KINDS).chain((kind) => ruleOf(kind, 'small')),
    cost: fc.nat({ max: 4 }),
    enforce: fc.nat({ max: 3 }).map((n) => n > 0),
  });
  await forAll(bench, fc.array(limit, { minLength: 1, maxLength: 6 }), async (limits) => {
    const name = bench.name();
    const charges = limits.map(({ rule, cost, enforce }, i): Charge => {
      return bench.charge(rule, name, cost, { values: [`limit ${i}`], enforce });
    });
    for (let i = 0; i < 6; i += 1) {
      const before = remaining(await bench.peek(...charges));
      const outcome = await bench.consume(...charges);
      const { verdicts } = outcome;
      const enforced = charges.every(({ enforce }, at) => !enforce || verdicts[at]?.admits);
      assert.equal(outcome.allowed, enforced, 'allowed iff every enforced limit admits');
      const should = charges.map(({ cost }, at) => outcome.allowed && verdicts[at]?.admits === true && cost > 0);
      assert.deepEqual(charged(outcome), should, 'then each limit that admits is charged');
      if (!bench.can('turned-clock')) continue;
      const spent = should.map((was, at) => (was ? (charges[at]?.cost ?? 0) : 0));
      assert.deepEqual(
        remaining(outcome),
        before.map((n, at) => n - (spent[at] as number)),
        'each its own cost',
      );
    }
  });
}

export const composition: Group = {
  name: 'composition',
  checks: [
    {
      title: 'a limit that refuses leaves the other axis alone: 1 admitted and 3 refused cost the other 1',
      run: otherAxis,
    },
    { title: 'one refusing limit is enough, wherever it stands, and then none is charged', run: anyPosition },
    { title: 'a denial dominates, whatever the waits', run: denialDominates },
    { title: 'every limit is charged its own cost', run: ownCosts },
    { title: 'a limit whose cost is 0 does not refuse, is not charged and reports its status', run: costZeroBeside },
    { title: 'a shadow limit never refuses, and is charged when it admits', run: shadowNeverRefuses },
    { title: 'a shadow limit is not charged when another limit refuses', run: shadowNotChargedByDenial },
    { title: 'twenty limits are one question', run: twentyLimits },
    { title: 'any limits together are charged all or none', run: anyNumberOfLimits },
  ],
};
