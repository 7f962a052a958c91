/** Refund and settle: at most what was charged, where it was charged, and never twice. */
import { strict as assert } from 'node:assert';
import type { Charge, Rule, Verdict } from '@limiter/core';
import { type Bench, giveBack, only, START } from '../bench.js';
import type { Check, Group } from '../check.js';
import { bucket, clockWindow, firstRequestWindow, forEachKind, type Kind, LONG, log } from '../rules.js';

const MINUTE = 60_000;
const AT = START - (START % MINUTE);

interface Charged {
  readonly charge: Charge;
  readonly verdict: Verdict;
}

/** Charges `cost` of someone's ledger, which must fit. */
async function spend(bench: Bench, rule: Rule, name: string, cost: number): Promise<Charged> {
  const charge = bench.charge(rule, name, cost);
  const verdict = only(await bench.consume(charge));
  assert.equal(verdict.charged, true, `${cost} fits`);
  return { charge, verdict };
}

const left = async (bench: Bench, { charge }: Charged): Promise<number> =>
  only(await bench.peek({ ...charge, cost: 0 })).remaining;

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

async function onceEverywhere(bench: Bench): Promise<void> {
  const charge = bench.charge(log(10, LONG), bench.name(), 6);
  const verdict = only(await bench.consume(charge));
  await bench.consume({ ...charge, cost: 4 });
  const once = { key: `receipt of ${charge.ledger.name}`, ttlMs: MINUTE, beside: charge.ledger };
  const first = await bench.adjust([giveBack(charge, verdict, 2)], once);
  assert.deepEqual([first.closed, first.adjusted[0]?.givenBack], [false, 2]);
  const second = await bench.adjust([giveBack(charge, verdict, 2)], once);
  assert.deepEqual([second.closed, second.adjusted], [true, []], 'a receipt that was used says so');
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
    ...forEachKind(settleUp),
    ...forEachKind(settleOfZero),
    {
      title: 'a settlement past the limit is waited for like any charge',
      needs: ['turned-clock'],
      run: settledExactly,
    },
    { title: 'one step refunds one limit and settles another', run: severalAtOnce },
    { title: 'a receipt that is used once everywhere gives back once', needs: ['once'], run: onceEverywhere },
    { title: 'fifty uses at once of one receipt give back once', needs: ['once'], run: onceAtOnce },
  ],
};
