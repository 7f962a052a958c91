/** The numbers are theorems: after any history, what a store says is what then happens. */
import { strict as assert } from 'node:assert';
import { type AskOutcome, type Charge, ruleLimit, type Verdict } from '@limiter/core';
import fc from 'fast-check';
import { type Bench, only } from '../bench.js';
import type { Check, Group } from '../check.js';
import { type CostPick, type History, type HistoryShape, histories, RULE_KINDS } from '../histories.js';
import { Player, type Question } from '../play.js';
import { forAll } from '../property.js';
import { forEachKind, type Kind } from '../rules.js';

const ANY: HistoryShape = {
  kinds: RULE_KINDS,
  limits: 1,
  adjust: true,
  change: true,
  keepRefill: true,
  back: true,
  length: 20,
};

/** A question after a history; every limit is asked for something. */
function asked(shape: HistoryShape): fc.Arbitrary<readonly [History, Question]> {
  const cost: fc.Arbitrary<CostPick> = fc.oneof(
    fc.integer({ min: 1, max: 6 }).map((n) => ({ kind: 'plain' as const, cost: n })),
    fc.nat({ max: 2 }).map((less) => ({ kind: 'of-limit' as const, less })),
  );
  const costs = fc.array(cost, { minLength: shape.limits, maxLength: shape.limits });
  return fc.tuple(
    histories(shape),
    fc.record({ subject: fc.constant(0), costs, heldBack: fc.constantFrom(0, 0, 0, 1, 4) }),
  );
}

/** Plays the history, then asks: the bench's clock stands at the answer. */
async function ask(
  bench: Bench,
  [history, question]: readonly [History, Question],
): Promise<readonly [readonly Charge[], AskOutcome]> {
  const player = new Player(bench, history);
  await player.play();
  const charges = player.charges(question);
  return [charges, await bench.consume(...charges)];
}

async function retry(bench: Bench): Promise<void> {
  const shape = { ...ANY, limits: 3 };
  await forAll(bench, asked(shape), async (one) => {
    const [charges, outcome] = await ask(bench, one);
    if (outcome.allowed || charges.some(({ cost }) => cost === 0)) return;
    const waits = outcome.verdicts.map((verdict, i) => (charges[i]?.enforce ? verdict.retryAfterMs : 0));
    const wait = Math.max(...waits);
    assert.ok(wait > 0, 'a refusal has a wait');
    const told = bench.now + wait;
    if (!Number.isSafeInteger(told) || told >= 2 ** 52) return;
    for (const early of new Set([Math.floor(wait / 2), wait - 1])) {
      bench.now = told - wait + early;
      assert.equal((await bench.peek(...charges)).allowed, false, `${wait - early} ms before the told moment`);
    }
    bench.now = told;
    assert.equal((await bench.consume(...charges)).allowed, true, 'at the told moment');
  });
}

/** One limit, asked after any history; then its verdict is put to the test. */
function ofOneLimit(title: string, holds: (bench: Bench, charge: Charge, verdict: Verdict) => Promise<void>): Check {
  return {
    title,
    needs: ['turned-clock'],
    run: (bench) =>
      forAll(bench, asked(ANY), async (one) => {
        const [charges, outcome] = await ask(bench, one);
        const charge = charges[0] as Charge;
        // The waits reported for a limit that is asked for nothing hold from the next consume on.
        if (charge.cost > 0) await holds(bench, charge, only(outcome));
      }),
  };
}

async function largest(bench: Bench, charge: Charge, { remaining }: Verdict): Promise<void> {
  const most = { ...charge, cost: remaining };
  assert.equal(only(await bench.peek(most)).admits, true, `${remaining} fits`);
  assert.equal(only(await bench.peek({ ...charge, cost: remaining + 1 })).admits, false, `${remaining + 1} does not`);
  const outcome = await bench.consume(most);
  assert.equal(outcome.allowed, true, 'what fits is not refused');
  assert.equal(only(outcome).remaining, 0);
}

async function fullAgain(bench: Bench, charge: Charge, { resetAfterMs }: Verdict): Promise<void> {
  const whole = { ...charge, cost: ruleLimit(charge.rule), holdBack: 0 };
  if (whole.cost === 0) return;
  const answered = bench.now;
  if (resetAfterMs > 0) {
    bench.now = answered + resetAfterMs - 1;
    assert.equal(only(await bench.peek(whole)).admits, false, '1 ms before the budget is full again');
  }
  bench.now = answered + resetAfterMs;
  const full = only(await bench.consume(whole));
  assert.deepEqual([full.admits, full.remaining], [true, 0], 'the full budget is admitted');
}

async function grows(bench: Bench, charge: Charge, { remaining, moreAfterMs, resetAfterMs }: Verdict): Promise<void> {
  const peek = { ...charge, cost: 0 };
  const answered = bench.now;
  if (moreAfterMs === 0) {
    bench.now = answered + resetAfterMs;
    assert.equal(only(await bench.peek(peek)).remaining, remaining, 'it was said that it cannot grow');
    return;
  }
  assert.ok(moreAfterMs <= resetAfterMs, 'it grows before it is full');
  bench.now = answered + moreAfterMs - 1;
  assert.equal(only(await bench.peek(peek)).remaining, remaining, '1 ms before the told moment');
  bench.now = answered + moreAfterMs;
  assert.ok(only(await bench.peek(peek)).remaining > remaining, 'at the told moment');
}

async function refusalChangesNothing(bench: Bench): Promise<void> {
  await forAll(bench, asked({ ...ANY, limits: 2 }), async (one) => {
    const [charges, outcome] = await ask(bench, one);
    if (outcome.allowed) return;
    const peeked = await bench.peek(...charges);
    assert.deepEqual(
      peeked.verdicts.map((verdict) => ({ ...verdict })),
      outcome.verdicts.map((verdict) => ({ ...verdict })),
      'the next look finds every number as the refusal left it',
    );
    assert.deepEqual((await bench.consume(...charges)).verdicts, outcome.verdicts, 'and so does the next try');
  });
}

/** Real time or turned: every answer until the told moment is a refusal, every answer from then on an admission. */
function toldMomentInPassing(kind: Kind): Check {
  return {
    title: `${kind.name} admits from the told moment on by the store's own time, in short windows that really pass`,
    run: async (bench) => {
      const charge = bench.charge(kind.rule(3, 80), bench.name());
      let refused: AskOutcome | undefined;
      for (let tries = 0; tries < 200 && refused === undefined; tries += 1) {
        const outcome = await bench.consume(charge);
        if (!outcome.allowed) refused = outcome;
      }
      assert.ok(refused, 'three of 80 ms are used up');
      const told = refused.now + only(refused).retryAfterMs;
      for (;;) {
        const { now, allowed } = await bench.peek(charge);
        assert.equal(allowed, now >= told, `asked at ${now}, told ${told}`);
        if (allowed) return;
        await bench.wait(1);
      }
    },
  };
}

export const promises: Group = {
  name: 'promises',
  checks: [
    {
      title:
        'a retry at the told moment, the longest wait of the enforced limits, is admitted, and 1 ms earlier it is not',
      needs: ['turned-clock'],
      run: retry,
    },
    ofOneLimit('remaining is the largest cost that is admitted now', largest),
    ofOneLimit('after resetAfterMs the full budget is admitted, and 1 ms earlier it is not', fullAgain),
    ofOneLimit('remaining grows at moreAfterMs and not before', grows),
    { title: 'a refusal leaves every number as it was', needs: ['turned-clock'], run: refusalChangesNothing },
    ...forEachKind(toldMomentInPassing),
  ],
};
