/** Limits change while running: numbers keep what was used, another grid is another ledger. */
import { strict as assert } from 'node:assert';
import type { Rule, Verdict } from '@limiter/core';
import { type Bench, only, START } from '../bench.js';
import type { Check, Group } from '../check.js';
import { bucket, clockWindow, firstRequestWindow, forEachKind, type Kind, LONG, log } from '../rules.js';

/** Asks `cost` of someone's ledger under `rule`. */
function asker(bench: Bench): (rule: Rule, cost?: number) => Promise<Verdict> {
  const name = bench.name();
  return async (rule, cost = 1) => only(await bench.consume(bench.charge(rule, name, cost)));
}

function keepsWhatWasUsed(kind: Kind): Check {
  return {
    title: `${kind.name} of 100 with 60 used has 0 left as one of 10, and 140 as one of 200`,
    run: async (bench) => {
      const ask = asker(bench);
      assert.equal((await ask(kind.rule(100, LONG), 60)).remaining, 40);
      const lower = await ask(kind.rule(10, LONG));
      assert.deepEqual([lower.admits, lower.remaining], [false, 0]);
      assert.equal((await ask(kind.rule(200, LONG), 0)).remaining, 140);
      assert.deepEqual(
        [(await ask(kind.rule(200, LONG), 141)).admits, (await ask(kind.rule(200, LONG), 140)).admits],
        [false, true],
      );
    },
  };
}

function plansFarmNothing(kind: Kind): Check {
  return {
    title: `${kind.name} gives nothing for flipping between two plans`,
    run: async (bench) => {
      const ask = asker(bench);
      let admitted = 0;
      for (let i = 0; i < 60; i += 1) {
        const { admits } = await ask(kind.rule(i % 2 === 0 ? 5 : 20, LONG));
        if (admits) admitted += 1;
      }
      assert.equal(admitted, 20, 'the larger plan, once');
    },
  };
}

function lowerTo0(kind: Kind): Check {
  return {
    title: `${kind.name} lowered to 0 admits nothing, and raised again has what it had`,
    run: async (bench) => {
      const ask = asker(bench);
      await ask(kind.rule(10, LONG), 3);
      const closed = await ask(kind.rule(0, LONG));
      assert.deepEqual([closed.admits, closed.retryAfterMs], [false, Number.POSITIVE_INFINITY]);
      assert.equal((await ask(kind.rule(10, LONG), 0)).remaining, 7);
    },
  };
}

function loweredWaits(kind: Kind): Check {
  return {
    title: `${kind.name} that was lowered below what is used tells when the first unit fits again`,
    needs: ['turned-clock'],
    run: async (bench) => {
      const minute = 60_000;
      bench.now = START - (START % minute);
      const ask = asker(bench);
      for (let i = 0; i < 10; i += 1) {
        await ask(kind.rule(10, minute));
        bench.now += 1_000;
      }
      const lower = {
        ...kind.rule(10, minute),
        ...(kind.rule(10, minute).algorithm === 'token-bucket' ? { capacity: 4 } : { limit: 4 }),
      };
      const refused = await ask(lower);
      assert.equal(refused.admits, false);
      bench.now += refused.retryAfterMs - 1;
      assert.equal((await ask(lower)).retryAfterMs, 1);
      bench.now += 1;
      assert.equal((await ask(lower)).admits, true);
    },
  };
}

async function refillFromTheLastCharge(bench: Bench): Promise<void> {
  const ask = asker(bench);
  bench.now = START;
  await ask(bucket(10, 1, 1_000), 10);
  bench.now += 2_000;
  assert.equal((await ask(bucket(10, 1, 1_000), 0)).remaining, 2, 'two of one a second');
  assert.equal((await ask(bucket(10, 3, 1_000), 0)).remaining, 6, 'the new rate applies from the last charge on');
  await ask(bucket(10, 3, 1_000), 1);
  assert.equal((await ask(bucket(10, 1, 1_000), 0)).remaining, 5, 'a charge settles what was before it');
  const waited = await ask(bucket(10, 2, 1_000), 6);
  assert.deepEqual([waited.admits, waited.retryAfterMs], [false, 500]);
}

async function otherGridIsNew(bench: Bench): Promise<void> {
  const rules: readonly Rule[] = [
    clockWindow(5, LONG),
    clockWindow(5, LONG - 1),
    clockWindow(5, LONG, 1),
    firstRequestWindow(5, LONG),
    log(5, LONG),
    log(5, LONG - 1),
    bucket(5, 1, LONG),
    bucket(5, 1, LONG - 1),
  ];
  const ask = asker(bench);
  for (const rule of rules) assert.equal((await ask(rule, 3)).remaining, 2);
  for (const rule of rules) assert.equal((await ask(rule, 0)).remaining, 2, 'and going back finds what was used there');
}

async function lastSaved(bench: Bench): Promise<void> {
  // A store that keeps a ledger only as long as the smaller limit needs it forgets too early.
  const ask = asker(bench);
  bench.now = START;
  await ask(bucket(100, 1, 1_000), 100);
  bench.now += 90_000;
  await ask(bucket(5, 1, 1_000), 0);
  assert.equal((await ask(bucket(5, 1, 1_000))).admits, false, '10 of 100 are still owed');
  bench.now += 9_999;
  assert.equal((await ask(bucket(100, 1, 1_000), 100)).admits, false);
  bench.now += 1;
  assert.equal((await ask(bucket(100, 1, 1_000), 100)).admits, true);
}

export const changingLimits: Group = {
  name: 'changing limits',
  checks: [
    ...forEachKind(keepsWhatWasUsed),
    ...forEachKind(plansFarmNothing),
    ...forEachKind(lowerTo0),
    ...forEachKind(loweredWaits),
    {
      title: 'a new refill rate applies from the last charge on',
      needs: ['turned-clock'],
      run: refillFromTheLastCharge,
    },
    {
      title: 'another algorithm, window, refill time, alignment or offset is a ledger of its own',
      run: otherGridIsNew,
    },
    { title: 'a smaller plan does not make a larger one forget', needs: ['turned-clock'], run: lastSaved },
  ],
};
