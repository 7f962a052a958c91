/** The contract: steps in, outcomes out. */
import { strict as assert } from 'node:assert';
import type { AskStep, Step } from '@limiter/core';
import { asAdjust, asAsk, type Bench, giveBack, only } from '../bench.js';
import type { Group } from '../check.js';
import { clockWindow, LONG, log } from '../rules.js';

async function says(bench: Bench): Promise<void> {
  const { traits, runSync } = bench.store;
  assert.equal(typeof traits.sync, 'boolean');
  assert.ok(['always', 'same-slot'].includes(traits.atomic), `atomic: ${traits.atomic}`);
  assert.ok(['own', 'caller'].includes(traits.clock), `clock: ${traits.clock}`);
  assert.ok(['no', 'eventually', 'yes'].includes(traits.durable), `durable: ${traits.durable}`);
  assert.ok(['never', 'possible'].includes(traits.fails), `fails: ${traits.fails}`);
  assert.equal(traits.sync, runSync !== undefined, 'traits.sync says whether runSync exists');
  assert.equal(
    traits.sync,
    bench.can('sync'),
    'a store without runSync declares `unsupported.sync`, one with it does not',
  );
  for (const algorithm of ['fixed-window', 'sliding-window-log', 'token-bucket'] as const) {
    assert.ok(traits.algorithms.includes(algorithm), `algorithms names ${algorithm}`);
  }
}

async function answersInOrder(bench: Bench): Promise<void> {
  const charge = bench.charge(log(5, LONG), bench.name());
  const first = only(await bench.consume(charge));
  const steps: readonly Step[] = [
    { op: 'peek', charges: [charge] },
    { op: 'consume', charges: [charge, bench.charge(log(5, LONG), charge.ledger.name, 2, { values: ['other'] })] },
    { op: 'adjust', adjustments: [giveBack(charge, first)] },
    { op: 'reset', ledgers: [charge.ledger] },
    { op: 'peek', charges: [charge] },
  ];
  const outcomes = await bench.run(steps);
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.ok ? outcome.op : outcome.fault)),
    ['peek', 'consume', 'adjust', 'reset', 'peek'],
  );
  assert.equal(only(asAsk(outcomes[0])).remaining, 4);
  assert.deepEqual(
    asAsk(outcomes[1]).verdicts.map(({ remaining }) => remaining),
    [3, 3],
    'verdicts stand in the order of the charges',
  );
  assert.equal(asAdjust(outcomes[2]).adjusted.length, 1);
  assert.equal(only(asAsk(outcomes[4])).remaining, 5);
  assert.deepEqual(await bench.run([]), [], 'no step, no outcome');
}

async function tellsTheTime(bench: Bench): Promise<void> {
  const charge = bench.charge(log(5, LONG), bench.name());
  const before = await bench.peek(charge);
  assert.ok(Number.isSafeInteger(before.now) && before.now >= 0, `now is whole ms since the epoch, got ${before.now}`);
  if (bench.can('turned-clock')) assert.equal(before.now, bench.now);
  await bench.wait(20);
  const after = await bench.peek(charge);
  if (bench.can('turned-clock')) assert.equal(after.now, bench.now);
  // A real clock may lag behind a timer by the tick that was under way.
  else assert.ok(after.now >= before.now + 15, `20 ms after ${before.now} it is ${after.now}`);
}

async function duplicates(bench: Bench): Promise<void> {
  const step: AskStep = { op: 'consume', charges: [bench.charge(clockWindow(10, LONG), bench.name())] };
  const outcomes = await bench.run(Array.from({ length: 15 }, () => step));
  const verdicts = outcomes.map((outcome) => only(asAsk(outcome)));
  assert.deepEqual(
    verdicts.map(({ charged }) => charged),
    Array.from({ length: 15 }, (_, i) => i < 10),
  );
  assert.deepEqual(
    verdicts.map(({ remaining }) => remaining),
    [9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0],
  );
}

async function snapshots(bench: Bench): Promise<void> {
  for (const rule of [clockWindow(10, LONG), log(10, LONG)]) {
    const charge = bench.charge(rule, bench.name());
    const first = await bench.consume(charge);
    const kept = structuredClone(first);
    await bench.consume(charge);
    await bench.refund(charge, only(first));
    await bench.reset(charge.ledger);
    assert.deepEqual(first, kept);
  }
}

async function syncIsTheSame(bench: Bench): Promise<void> {
  const store = bench.syncStore;
  for (const rule of [clockWindow(3, LONG), log(3, LONG)]) {
    const name = bench.name();
    for (let i = 0; i < 5; i += 1) {
      const outcome = asAsk(store.runSync({ op: 'consume', charges: [bench.charge(rule, name)] }), 'consume');
      assert.equal(outcome.allowed, i < 3);
      const peeked = await bench.peek(bench.charge(rule, name));
      assert.equal(only(peeked).remaining, only(outcome).remaining, 'run and runSync share their ledgers');
    }
    store.runSync({ op: 'reset', ledgers: [bench.ledger(rule, name)] });
    assert.equal(only(await bench.peek(bench.charge(rule, name))).remaining, 3);
  }
}

async function abortedIsNotSent(bench: Bench): Promise<void> {
  const charge = bench.charge(log(5, LONG), bench.name());
  const [outcome] = await bench.store.run([{ op: 'consume', charges: [charge] }], AbortSignal.abort());
  const { remaining } = only(await bench.peek(charge));
  assert.equal(remaining, outcome?.ok === true ? 4 : 5, 'what the outcome says is what was done');
  if (bench.store.traits.fails === 'never') return;
  assert.ok(outcome?.ok === false, 'a step is never sent after the signal has aborted');
  assert.equal(outcome.fault, 'unreachable', 'it did not run and never will');
}

async function damaged(bench: Bench): Promise<void> {
  const rule = log(5, LONG);
  const bad = bench.charge(rule, bench.name());
  const good = bench.charge(rule, bad.ledger.name, 1, { values: ['another'] });
  await bench.consume(bad);
  await bench.damage(bad.ledger);
  const outcomes = await bench.run([
    { op: 'consume', charges: [good] },
    { op: 'consume', charges: [good, bad] },
    { op: 'consume', charges: [good] },
  ]);
  const [, middle] = outcomes;
  assert.ok(
    middle?.ok === false && middle.fault === 'corrupt',
    'a damaged ledger is a fault of the step that needs it',
  );
  assert.equal(only(asAsk(outcomes[0])).remaining, 4);
  assert.equal(only(asAsk(outcomes[2])).remaining, 3, 'nothing of the faulty step was written');
  await bench.reset(bad.ledger);
  assert.equal(only(await bench.consume(bad)).admits, true, 'reset removes what was damaged');
}

export const contract: Group = {
  name: 'contract',
  checks: [
    { title: 'a store says of itself what it can do', run: says },
    { title: 'every step has one outcome, in the order of the steps', run: answersInOrder },
    { title: 'an outcome names the time at which it was decided, in whole milliseconds', run: tellsTheTime },
    { title: 'the same step fifteen times in one run on limit 10 is admitted ten times', run: duplicates },
    { title: 'an outcome is a snapshot: what happens later does not change it', run: snapshots },
    { title: 'runSync decides as run does, on the same ledgers', needs: ['sync'], run: syncIsTheSame },
    { title: 'a step is not sent once its signal has aborted', run: abortedIsNotSent },
    { title: 'a damaged ledger fails its own step and no other', needs: ['damage'], run: damaged },
  ],
};
