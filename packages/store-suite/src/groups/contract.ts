/** The contract: steps in, outcomes out, and what a single limit says. */
import { strict as assert } from 'node:assert';
import type { AskStep, Step } from '@limiter/core';
import { asAdjust, asAsk, type Bench, giveBack, only } from '../bench.js';
import type { Check, Group } from '../check.js';
import { clockWindow, forEachKind, type Kind, LONG, log } from '../rules.js';

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

function admitsExactly(kind: Kind): Check {
  return {
    title: `${kind.name} admits until its limit is used, and not one unit more`,
    run: async (bench) => {
      const rule = kind.rule(10, LONG);
      const name = bench.name();
      for (const [cost, left] of [
        [1, 9],
        [5, 4],
        [4, 0],
      ] as const) {
        const verdict = only(await bench.consume(bench.charge(rule, name, cost)));
        const { admits, charged, remaining } = verdict;
        assert.deepEqual(
          { admits, charged, remaining },
          { admits: true, charged: true, remaining: left },
          `cost ${cost}`,
        );
        assert.notEqual(verdict.mark, undefined, 'a charge has a mark');
      }
      const refused = await bench.consume(bench.charge(rule, name, 1));
      const { admits, charged, remaining, retryAfterMs, mark } = only(refused);
      assert.equal(refused.allowed, false);
      assert.deepEqual(
        { admits, charged, remaining, mark },
        { admits: false, charged: false, remaining: 0, mark: undefined },
      );
      assert.ok(retryAfterMs > 0 && retryAfterMs <= LONG, `retryAfterMs ${retryAfterMs}`);
    },
  };
}

function refusalChargesNothing(kind: Kind): Check {
  return {
    title: `${kind.name} charges nothing for a refusal: with 8 of 10 used, 5 is refused and 2 is still admitted`,
    run: async (bench) => {
      const rule = kind.rule(10, LONG);
      const name = bench.name();
      await bench.consume(bench.charge(rule, name, 8));
      for (let tries = 0; tries < 5; tries += 1) {
        const refused = await bench.consume(bench.charge(rule, name, 5));
        assert.equal(refused.allowed, false);
        assert.equal(only(refused).remaining, 2);
      }
      const admitted = await bench.consume(bench.charge(rule, name, 2));
      assert.equal(admitted.allowed, true);
      assert.equal(only(admitted).remaining, 0);
    },
  };
}

function refusalLeavesBytes(kind: Kind): Check {
  return {
    title: `${kind.name} leaves the stored bytes as they are when it refuses, and when it is peeked at`,
    needs: ['dump'],
    run: (shared) =>
      shared.fresh(async (bench) => {
        const rule = kind.rule(10, LONG);
        const name = bench.name();
        await bench.consume(bench.charge(rule, name, 8));
        const before = await bench.dump();
        await bench.consume(bench.charge(rule, name, 5));
        await bench.consume(bench.charge(rule, name, 11));
        await bench.peek(bench.charge(rule, name, 1));
        await bench.peek(bench.charge(rule, name, 1, { values: ['nobody'] }));
        await bench.consume(bench.charge(rule, name, 0));
        await bench.consume(bench.charge(rule, name, 0, { values: ['nobody'] }));
        assert.equal(await bench.dump(), before);
      }),
  };
}

function peekSaysWhatConsumeWould(kind: Kind): Check {
  return {
    title: `${kind.name} says in a peek what a consume would say, and charges nothing for it`,
    run: async (bench) => {
      const rule = kind.rule(10, LONG);
      const name = bench.name();
      for (const cost of [3, 3, 3, 3, 11]) {
        const peeked = only(await bench.peek(bench.charge(rule, name, cost)));
        const again = only(await bench.peek(bench.charge(rule, name, cost)));
        const consumed = only(await bench.consume(bench.charge(rule, name, cost)));
        assert.equal(again.remaining, peeked.remaining, 'peeks charge nothing');
        assert.deepEqual([peeked.charged, peeked.mark], [false, undefined]);
        assert.equal(peeked.admits, consumed.admits, `cost ${cost}`);
        assert.equal(peeked.remaining - (consumed.admits ? cost : 0), consumed.remaining, `cost ${cost}`);
        if (bench.can('turned-clock')) assert.equal(peeked.retryAfterMs, consumed.retryAfterMs, `cost ${cost}`);
      }
      const unknown = only(await bench.peek(bench.charge(rule, name, 1, { values: ['nobody'] })));
      const { remaining, resetAfterMs, moreAfterMs } = unknown;
      assert.deepEqual({ remaining, resetAfterMs, moreAfterMs }, { remaining: 10, resetAfterMs: 0, moreAfterMs: 0 });
    },
  };
}

function costZero(kind: Kind): Check {
  return {
    title: `${kind.name} admits cost 0 even when nothing is left, and is not charged by it`,
    run: async (bench) => {
      const rule = kind.rule(3, LONG);
      const name = bench.name();
      const fresh = only(await bench.consume(bench.charge(rule, name, 0)));
      assert.deepEqual([fresh.admits, fresh.charged, fresh.mark, fresh.remaining], [true, false, undefined, 3]);
      assert.deepEqual([fresh.resetAfterMs, fresh.moreAfterMs], [0, 0], 'no window is opened');
      await bench.consume(bench.charge(rule, name, 3));
      const full = await bench.consume(bench.charge(rule, name, 0));
      assert.equal(full.allowed, true);
      assert.deepEqual([only(full).charged, only(full).retryAfterMs, only(full).remaining], [false, 0, 0]);
    },
  };
}

function neverFits(kind: Kind): Check {
  return {
    title: `${kind.name} refuses a cost above its limit for ever: the wait is Infinity, and nothing is charged`,
    run: async (bench) => {
      const rule = kind.rule(10, LONG);
      const name = bench.name();
      const refused = await bench.consume(bench.charge(rule, name, 11));
      assert.equal(refused.allowed, false);
      assert.equal(only(refused).retryAfterMs, Number.POSITIVE_INFINITY);
      assert.equal(only(await bench.consume(bench.charge(rule, name, 10))).admits, true);
      const none = bench.name();
      const closed = only(await bench.consume(bench.charge(kind.rule(0, LONG), none, 1)));
      assert.deepEqual(
        [closed.admits, closed.retryAfterMs, closed.remaining, closed.resetAfterMs, closed.moreAfterMs],
        [false, Number.POSITIVE_INFINITY, 0, 0, 0],
        'limit 0 admits nothing',
      );
    },
  };
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
    ...forEachKind(admitsExactly),
    ...forEachKind(refusalChargesNothing),
    ...forEachKind(refusalLeavesBytes),
    ...forEachKind(peekSaysWhatConsumeWould),
    ...forEachKind(costZero),
    ...forEachKind(neverFits),
    { title: 'the same step fifteen times in one run on limit 10 is admitted ten times', run: duplicates },
    { title: 'an outcome is a snapshot: what happens later does not change it', run: snapshots },
    { title: 'runSync decides as run does, on the same ledgers', needs: ['sync'], run: syncIsTheSame },
    { title: 'a step is not sent once its signal has aborted', run: abortedIsNotSent },
    { title: 'a damaged ledger fails its own step and no other', needs: ['damage'], run: damaged },
  ],
};
