/** Refunds: at most what was charged, where it was charged, and never twice. */
import { strict as assert } from 'node:assert';

import { type Bench, giveBack, only, START } from '../bench.js';
import type { Check, Group } from '../check.js';
import { bucket, clockWindow, firstRequestWindow, forEachKind, type Kind, LONG, log } from '../rules.js';
import { type Charged, left, spend } from '../spending.js';

const MINUTE = 60_000;
const AT = START - (START % MINUTE);

function atMostWhatWasCharged(kind: Kind): Check {
  return {
    title: `${kind.name} gives back what is asked, and at most what was charged`,
    run: async (bench) => {
      const rule = kind.rule(10, LONG);
      for (const [asked, back] of [
        [3, 3],
        [0, 0],
        [5, 5],
        [6, 5],
        [Number.MAX_SAFE_INTEGER, 5],
      ] as const) {
        const name = bench.name();
        await spend(bench, rule, name, 2);
        const one = await spend(bench, rule, name, 5);
        const { givenBack, charged, cut } = await bench.refund(one.charge, one.verdict, asked);
        assert.deepEqual([givenBack, charged, cut], [back, 0, 0], `asked for ${asked}`);
        assert.equal(await left(bench, one), 3 + back);
      }
    },
  };
}

function admittedAgain(kind: Kind): Check {
  return {
    title: `${kind.name} admits again what was given back, and not more`,
    run: async (bench) => {
      const rule = kind.rule(10, LONG);
      const name = bench.name();
      const one = await spend(bench, rule, name, 6);
      await spend(bench, rule, name, 4);
      await bench.refund(one.charge, one.verdict, 6);
      assert.equal((await bench.consume(bench.charge(rule, name, 7))).allowed, false);
      assert.equal((await bench.consume(bench.charge(rule, name, 6))).allowed, true);
    },
  };
}

function onlyWhatWasCharged(kind: Kind): Check {
  return {
    title: `${kind.name} gives nothing back for a cost of 0, and nothing to a ledger that was reset`,
    run: async (bench) => {
      const rule = kind.rule(10, LONG);
      const name = bench.name();
      const one = await spend(bench, rule, name, 6);
      const zero = bench.charge(rule, name, 0);
      const nothing = only(await bench.consume(zero));
      assert.equal((await bench.refund(zero, nothing, 5)).givenBack, 0);
      assert.equal(await left(bench, one), 4);
      await bench.reset(one.charge.ledger);
      await spend(bench, rule, name, 6);
      assert.equal((await bench.refund(one.charge, one.verdict)).givenBack, 0, 'a new ledger has another identity');
      assert.equal(await left(bench, one), 4);
    },
  };
}

async function onlyInItsWindow(bench: Bench): Promise<void> {
  for (const rule of [clockWindow(10, MINUTE), firstRequestWindow(10, MINUTE)]) {
    const name = bench.name();
    bench.now = AT;
    const one = await spend(bench, rule, name, 6);
    const two = await spend(bench, rule, name, 2);
    bench.now = AT + MINUTE - 1;
    assert.equal((await bench.refund(one.charge, one.verdict)).givenBack, 6, 'in the last moment of its window');
    bench.now = AT + MINUTE;
    await spend(bench, rule, name, 3);
    assert.equal((await bench.refund(two.charge, two.verdict)).givenBack, 0, 'not in the next one');
    assert.equal(await left(bench, two), 7);
  }
}

async function logWhileItCounts(bench: Bench): Promise<void> {
  const rule = log(10, MINUTE);
  const name = bench.name();
  bench.now = AT;
  const one = await spend(bench, rule, name, 4);
  bench.now = AT + 1_000;
  const two = await spend(bench, rule, name, 3);
  bench.now = AT + MINUTE;
  assert.equal((await bench.refund(one.charge, one.verdict)).givenBack, 0, 'it no longer counts');
  assert.equal((await bench.refund(two.charge, two.verdict, 2)).givenBack, 2);
  const { remaining, resetAfterMs } = only(await bench.peek(two.charge));
  assert.deepEqual([remaining, resetAfterMs], [9, 1_000], 'what is left of the entry expires when it would have');
}

async function logTakesFromItsEntry(bench: Bench): Promise<void> {
  const rule = log(10, MINUTE);
  const name = bench.name();
  const entries: Charged[] = [];
  for (let i = 0; i < 5; i += 1) {
    bench.now = AT + i * 1_000;
    entries.push(await spend(bench, rule, name, 2));
  }
  const middle = entries[2] as Charged;
  await bench.refund(middle.charge, middle.verdict);
  const waits: number[] = [];
  for (const cost of [2, 3, 5, 7]) waits.push(only(await bench.peek(bench.charge(rule, name, cost))).retryAfterMs);
  // 8 are used: at 0, 1, 3 and 4 s, two each; it is 4 s.
  assert.deepEqual(waits, [0, 56_000, 57_000, 59_000]);
}

async function bucketNeverTwice(bench: Bench): Promise<void> {
  const rule = bucket(10, 1, 1_000);
  const name = bench.name();
  bench.now = AT;
  const one = await spend(bench, rule, name, 6);
  bench.now = AT + 4_000;
  assert.equal((await bench.refund(one.charge, one.verdict)).givenBack, 2, 'refill has returned 4 of 6 already');
  assert.equal(await left(bench, one), 10);
  const two = await spend(bench, rule, name, 10);
  bench.now = AT + 5_000;
  const three = await spend(bench, rule, name, 1);
  bench.now = AT + 8_000;
  // Of two's 10 units, 4 came back; the debt of 7 holds 1 that was charged since.
  assert.equal((await bench.refund(two.charge, two.verdict)).givenBack, 6);
  assert.equal(await left(bench, two), 9);
  assert.equal((await bench.refund(three.charge, three.verdict)).givenBack, 1);
  assert.equal(await left(bench, two), 10);
}

async function fractions(bench: Bench): Promise<void> {
  const rule = bucket(10, 1, 1_000);
  bench.now = AT;
  const one = await spend(bench, rule, bench.name(), 3);
  bench.now = AT + 1_500;
  assert.equal((await bench.refund(one.charge, one.verdict)).givenBack, 1, '1.5 are still owed: 1 whole unit');
  const { remaining, resetAfterMs } = only(await bench.peek(one.charge));
  assert.deepEqual([remaining, resetAfterMs], [10, 0], 'and the half goes with it');
}

async function afterAStepBack(bench: Bench): Promise<void> {
  for (const rule of [
    clockWindow(10, MINUTE),
    firstRequestWindow(10, MINUTE),
    bucket(10, 10, MINUTE),
    log(10, MINUTE),
  ]) {
    const name = bench.name();
    bench.now = AT;
    const one = await spend(bench, rule, name, 4);
    bench.now = AT - 2_000;
    assert.equal((await bench.refund(one.charge, one.verdict, 1)).givenBack, 1, 'a clock a little behind');
    bench.now = AT - 3_600_000;
    const other = await spend(bench, rule, name, 2);
    const follows = rule.algorithm === 'sliding-window-log';
    const two = await bench.refund(one.charge, one.verdict, 1);
    assert.equal(two.givenBack, follows ? 1 : 0, 'a moved ledger is another; only log receipts follow their entry');
    assert.equal(await left(bench, other), follows ? 6 : 5);
  }
}

async function refundMovesNoAnchor(bench: Bench): Promise<void> {
  const rule = firstRequestWindow(10, MINUTE);
  const name = bench.name();
  bench.now = AT;
  const one = await spend(bench, rule, name, 4);
  await spend(bench, rule, name, 1);
  bench.now = AT - 3_600_000;
  assert.equal((await bench.refund(one.charge, one.verdict)).givenBack, 0);
  bench.now = AT + 10_000;
  assert.equal(only(await bench.peek(one.charge)).resetAfterMs, MINUTE - 10_000, 'the refund has not moved the window');
}

async function onceEverywhere(bench: Bench): Promise<void> {
  const charge = bench.charge(log(10, LONG), bench.name(), 6);
  const verdict = only(await bench.consume(charge));
  await bench.consume({ ...charge, cost: 4 });
  const once = { key: `receipt of ${charge.ledger.name}`, ttlMs: MINUTE, beside: charge.ledger };
  const first = await bench.adjust([giveBack(charge, verdict, 2)], once);
  assert.deepEqual([first.closed, first.adjusted[0]?.givenBack], [false, 2]);
  const second = await bench.adjust([giveBack(charge, verdict, 2)], once);
  assert.equal(second.closed, true, 'a receipt that was used says so');
  assert.ok(second.adjusted.every(({ givenBack, charged, cut }) => givenBack + charged + cut === 0));
  assert.equal(only(await bench.peek(charge)).remaining, 2);
  const other = await bench.adjust([giveBack(charge, verdict, 1)], { ...once, key: `another ${once.key}` });
  assert.equal(other.closed, false, 'another receipt is not concerned');
}

async function onceAtOnce(bench: Bench): Promise<void> {
  const charge = bench.charge(clockWindow(100, LONG), bench.name(), 5);
  const verdict = only(await bench.consume(charge));
  await bench.consume({ ...charge, cost: 95 });
  const once = { key: `crossing ${charge.ledger.name}`, ttlMs: MINUTE, beside: charge.ledger };
  const outcomes = await Promise.all(
    Array.from({ length: 50 }, () => bench.adjust([giveBack(charge, verdict, 1)], once)),
  );
  assert.equal(outcomes.filter(({ closed }) => !closed).length, 1);
  assert.equal(only(await bench.peek(charge)).remaining, 1);
}

export const refunds: Group = {
  name: 'refunds',
  checks: [
    ...forEachKind(atMostWhatWasCharged),
    ...forEachKind(admittedAgain),
    ...forEachKind(onlyWhatWasCharged),
    {
      title: 'a fixed window gives back only while the window of the charge is open',
      needs: ['turned-clock'],
      run: onlyInItsWindow,
    },
    {
      title: 'a sliding window log gives back only while the entry counts',
      needs: ['turned-clock'],
      run: logWhileItCounts,
    },
    {
      title: 'a sliding window log gives back from the entry that was charged',
      needs: ['turned-clock'],
      run: logTakesFromItsEntry,
    },
    {
      title: 'a token bucket never gives back what refill has returned',
      needs: ['turned-clock'],
      run: bucketNeverTwice,
    },
    {
      title: 'a token bucket reports whole units and gives back their fractions too',
      needs: ['turned-clock'],
      run: fractions,
    },
    {
      title: 'after a step back only the receipts of a log give anything back',
      needs: ['turned-clock'],
      run: afterAStepBack,
    },
    {
      title: 'a refund on a clock that was set back moves no window',
      needs: ['turned-clock'],
      run: refundMovesNoAnchor,
    },
    { title: 'a receipt that is used once everywhere gives back once', needs: ['once'], run: onceEverywhere },
    { title: 'fifty uses at once of one receipt give back once', needs: ['once'], run: onceAtOnce },
  ],
};
