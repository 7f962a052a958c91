/** A thousand calls at once: exactly the budget. */
import { strict as assert } from 'node:assert';
import type { AskOutcome, AskStep, Charge, Store } from '@limiter/core';
import { asAdjust, asAsk, type Bench, giveBack, only } from '../bench.js';
import type { Check, Group } from '../check.js';
import { bucket, clockWindow, forEachKind, type Kind, LONG, log } from '../rules.js';

const CALLS = 1_000;

/** `calls` consumes at once, in turn over the handles. */
async function atOnce(
  stores: readonly Store[],
  charges: (i: number) => readonly Charge[],
  calls = CALLS,
): Promise<readonly AskOutcome[]> {
  const asked = Array.from({ length: calls }, async (_, i) => {
    const step: AskStep = { op: 'consume', charges: charges(i) };
    return asAsk((await (stores[i % stores.length] as Store).run([step]))[0]);
  });
  return await Promise.all(asked);
}

const countAllowed = (outcomes: readonly AskOutcome[]): number => outcomes.filter(({ allowed }) => allowed).length;

function thousandAtOnce(kind: Kind): Check {
  return {
    title: `${kind.name} of 300 admits exactly 300 of a thousand calls at once`,
    run: async (bench) => {
      const charge = bench.charge(kind.rule(300, LONG), bench.name());
      const outcomes = await atOnce([bench.store], () => [charge]);
      assert.equal(countAllowed(outcomes), 300);
      const left = outcomes.filter(({ allowed }) => allowed).map((outcome) => only(outcome).remaining);
      assert.equal(new Set(left).size, 300, 'every admitted call saw another remaining');
      assert.equal(only(await bench.peek(charge)).remaining, 0);
    },
  };
}

function twoHandles(kind: Kind): Check {
  return {
    title: `${kind.name} of 300 admits exactly 300 of a thousand calls at once over two handles on the same data`,
    needs: ['second-handle'],
    run: async (bench) => {
      const charge = bench.charge(kind.rule(300, LONG), bench.name());
      const second = await bench.second(() => bench.now);
      assert.equal(countAllowed(await atOnce([bench.store, second], () => [charge])), 300);
      const [seen] = await bench.run([{ op: 'peek', charges: [charge] }], second);
      assert.equal(only(asAsk(seen)).remaining, 0);
    },
  };
}

async function weighted(bench: Bench): Promise<void> {
  const name = bench.name();
  const outcomes = await atOnce([bench.store], (i) => [bench.charge(log(1_000, LONG), name, 1 + (i % 7))]);
  const kept = outcomes.reduce((sum, outcome, i) => sum + (outcome.allowed ? 1 + (i % 7) : 0), 0);
  const { remaining } = only(await bench.peek(bench.charge(log(1_000, LONG), name)));
  assert.equal(kept + remaining, 1_000, 'what was admitted is what is used');
  assert.ok(remaining < 7, `${remaining} left over: something that fits was refused`);
}

async function threeLimits(bench: Bench): Promise<void> {
  const wide = bench.charge(clockWindow(100_000, LONG), bench.name('wide'));
  const middle = bench.beside(wide, bucket(250, 1, LONG), 'middle');
  const narrow = bench.beside(wide, log(100, LONG), 'narrow');
  // Orders differ from call to call: a store that locks must not lock itself up.
  const orders = [
    [wide, middle, narrow],
    [narrow, wide, middle],
    [middle, narrow, wide],
  ];
  const outcomes = await atOnce([bench.store], (i) => orders[i % 3] as readonly Charge[]);
  assert.equal(countAllowed(outcomes), 100);
  const seen = (await bench.peek(wide, middle, narrow)).verdicts.map(({ remaining }) => remaining);
  assert.deepEqual(seen, [99_900, 150, 0], 'refused calls charged none of the three');
}

async function oneRun(bench: Bench): Promise<void> {
  const charge = bench.charge(log(300, LONG), bench.name());
  const outcomes = await bench.run(
    Array.from({ length: CALLS }, () => ({ op: 'consume' as const, charges: [charge] })),
  );
  const allowed = outcomes.map((outcome) => asAsk(outcome).allowed);
  assert.deepEqual(
    allowed,
    allowed.map((_, i) => i < 300),
    'the first 300, in order',
  );
}

function refundsAtOnce(kind: Kind): Check {
  return {
    title: `${kind.name} loses and invents nothing when refunds and new calls cross`,
    run: async (bench) => {
      const charge = bench.charge(kind.rule(200, LONG), bench.name());
      const first = await atOnce([bench.store], () => [charge], 200);
      const [refunds, second] = await Promise.all([
        Promise.all(first.slice(0, 100).map((outcome) => bench.adjust([giveBack(charge, only(outcome))]))),
        atOnce([bench.store], () => [charge], 300),
      ]);
      const back = refunds.reduce((sum, outcome) => sum + (asAdjust(outcome).adjusted[0]?.givenBack ?? 0), 0);
      const { remaining } = only(await bench.peek(charge));
      // Where time really passes, a bucket's refill has returned a part of some units, which are then not reported as whole ones.
      const parts = kind.rule(1, LONG).algorithm === 'token-bucket' && !bench.can('turned-clock') ? 100 - back : 0;
      assert.equal(back + parts, 100, 'every charge was given back');
      const sum = 200 - back + countAllowed(second) + remaining;
      assert.ok(sum >= 200 && sum <= 200 + parts, `${sum} of 200`);
    },
  };
}

export const atomicity: Group = {
  name: 'atomicity',
  checks: [
    ...forEachKind(thousandAtOnce),
    ...forEachKind(twoHandles),
    { title: 'a thousand calls of different costs at once use the budget up and never pass it', run: weighted },
    { title: 'a thousand calls over three limits at once charge all three or none', run: threeLimits },
    { title: 'a thousand steps in one run are admitted in order until the limit is used', run: oneRun },
    ...forEachKind(refundsAtOnce),
  ],
};
