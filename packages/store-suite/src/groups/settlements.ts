/** Settle: what a call really cost, when that is known only afterwards. */
import { strict as assert } from 'node:assert';
import type { Charge, Verdict } from '@limiter/core';
import { type Bench, giveBack, only, START } from '../bench.js';
import type { Check, Group } from '../check.js';
import { bucket, clockWindow, forEachKind, type Kind, LONG, log } from '../rules.js';
import { left, spend } from '../spending.js';

const MINUTE = 60_000;
const AT = START - (START % MINUTE);

function settleUp(kind: Kind): Check {
  return {
    title: `${kind.name} charges what a settlement adds even past its limit, up to twice of it, and says what was cut`,
    run: async (bench) => {
      const rule = kind.rule(10, LONG);
      const one = await spend(bench, rule, bench.name(), 6);
      assert.deepEqual(await bench.settleUp(one.charge, one.verdict, 3), { givenBack: 0, charged: 3, cut: 0 });
      assert.equal(await left(bench, one), 1);
      assert.deepEqual(await bench.settleUp(one.charge, one.verdict, 30), { givenBack: 0, charged: 11, cut: 19 });
      const { admits, remaining, retryAfterMs } = only(await bench.peek({ ...one.charge, cost: 1 }));
      assert.deepEqual([admits, remaining, retryAfterMs > 0], [false, 0, true]);
      assert.deepEqual(await bench.settleUp(one.charge, one.verdict, 1), { givenBack: 0, charged: 0, cut: 1 });
    },
  };
}

function settleOfZero(kind: Kind): Check {
  return {
    title: `${kind.name} charges a settlement on a call whose cost was 0, on a ledger that did not exist`,
    run: async (bench) => {
      const charge = bench.charge(kind.rule(10, LONG), bench.name(), 0);
      const verdict = only(await bench.consume(charge));
      assert.deepEqual(await bench.settleUp(charge, verdict, 7), { givenBack: 0, charged: 7, cut: 0 });
      assert.equal(only(await bench.peek(charge)).remaining, 3);
    },
  };
}

async function settledExactly(bench: Bench): Promise<void> {
  const rule = bucket(10, 10, MINUTE);
  bench.now = AT;
  const one = await spend(bench, rule, bench.name(), 10);
  await bench.settleUp(one.charge, one.verdict, 10);
  const { retryAfterMs, resetAfterMs, moreAfterMs } = only(await bench.peek({ ...one.charge, cost: 1 }));
  assert.deepEqual([retryAfterMs, moreAfterMs, resetAfterMs], [66_000, 66_000, 120_000]);
}

async function severalAtOnce(bench: Bench): Promise<void> {
  const first = bench.charge(log(10, LONG), bench.name('requests'), 2);
  const charges = [
    first,
    bench.beside(first, clockWindow(100, LONG), 'bytes', 60),
    bench.beside(first, bucket(8, 1, LONG), 'items', 5),
  ];
  // Beside what was charged before, refill has not reached these five.
  await bench.consume({ ...(charges[2] as Charge), cost: 3 });
  const { verdicts } = await bench.consume(...charges);
  const [requests, bytes, items] = charges.map((charge, i) => giveBack(charge, verdicts[i] as Verdict));
  assert.ok(requests && bytes && items);
  const { adjusted } = await bench.adjust([
    { ...requests, amount: 1 },
    { ...bytes, change: 'charge', amount: 7 },
    items,
  ]);
  assert.deepEqual(
    adjusted.map(({ givenBack, charged, cut }) => [givenBack, charged, cut]),
    [
      [1, 0, 0],
      [0, 7, 0],
      [5, 0, 0],
    ],
  );
  assert.deepEqual(
    (await bench.peek(...charges)).verdicts.map(({ remaining }) => remaining),
    [9, 33, 5],
  );
}

export const settlements: Group = {
  name: 'settlements',
  checks: [
    ...forEachKind(settleUp),
    ...forEachKind(settleOfZero),
    {
      title: 'a settlement past the limit is waited for like any charge',
      needs: ['turned-clock'],
      run: settledExactly,
    },
    { title: 'one step refunds one limit and settles another', run: severalAtOnce },
  ],
};
