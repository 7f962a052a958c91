/** Forgetting: never before the budget is full again, and not never. */
import { strict as assert } from 'node:assert';
import { type Bench, only, START } from '../bench.js';
import type { Check, Group } from '../check.js';
import { bucket, forEachKind, type Kind, LONG, log } from '../rules.js';

const MINUTE = 60_000;
const AT = START - (START % MINUTE);

function asNewAtTheEnd(kind: Kind): Check {
  return {
    title: `${kind.name} is as new when its budget is full again, and not 1 ms earlier`,
    needs: ['turned-clock'],
    run: async (bench) => {
      const rule = kind.rule(10, MINUTE);
      const charge = bench.charge(rule, bench.name(), 10);
      bench.now = AT;
      await bench.consume(charge);
      bench.now = AT + MINUTE - 1;
      const before = only(await bench.peek(charge));
      assert.deepEqual([before.admits, before.resetAfterMs], [false, 1]);
      bench.now = AT + MINUTE;
      const after = only(await bench.peek(charge));
      assert.deepEqual([after.remaining, after.resetAfterMs, after.moreAfterMs], [10, 0, 0]);
      assert.equal(only(await bench.consume(charge)).remaining, 0);
    },
  };
}

function keptWhileOthersComeAndGo(kind: Kind): Check {
  return {
    title: `${kind.name} is kept while a thousand other ledgers come and go`,
    needs: ['turned-clock'],
    run: async (bench) => {
      const name = bench.name();
      const charge = bench.charge(kind.rule(10, 10 * MINUTE), name, 7, { values: ['kept'] });
      bench.now = AT - (AT % (10 * MINUTE));
      await bench.consume(charge);
      for (let round = 0; round < 10; round += 1) {
        const visitors = Array.from({ length: 100 }, (_, i) => ({
          op: 'consume' as const,
          charges: [bench.charge(kind.rule(1, 10), name, 1, { values: [`visitor ${i}`] })],
        }));
        for (const outcome of await bench.run(visitors))
          assert.ok(outcome.ok && outcome.op === 'consume' && outcome.allowed);
        bench.now += 30_000;
      }
      assert.equal(only(await bench.peek({ ...charge, cost: 10 })).admits, false);
    },
  };
}

function forgetsInTheEnd(kind: Kind): Check {
  return {
    title: `${kind.name} is forgotten some time after its budget is full again`,
    needs: ['turned-clock', 'forgetting'],
    run: (shared) =>
      shared.fresh(async (bench) => {
        const name = bench.name();
        bench.now = AT;
        const visit = (round: number) =>
          Array.from({ length: 100 }, (_, i) => ({
            op: 'consume' as const,
            charges: [bench.charge(kind.rule(2, 1_000), name, 1, { values: [`round ${round}, visitor ${i}`] })],
          }));
        await bench.run(visit(0));
        const one = (await bench.dump()).length;
        for (let round = 1; round <= 20; round += 1) {
          bench.now += 1_000_000;
          await bench.run(visit(round));
        }
        const all = (await bench.dump()).length;
        assert.ok(all < 6 * one, `21 rounds of visitors hold ${all} characters, one round holds ${one}`);
      }),
  };
}

function realWindow(kind: Kind): Check {
  return {
    title: `${kind.name} of 60 ms is full again after its time has really passed, again and again`,
    run: async (bench) => {
      const charge = bench.charge(kind.rule(4, 60), bench.name(), 4);
      for (let round = 0; round < 3; round += 1) {
        const spent = await bench.consume(charge);
        assert.deepEqual([spent.allowed, only(spent).remaining], [true, 0], `round ${round}`);
        let later = await bench.peek(charge);
        while (later.now < spent.now + 60) {
          await bench.wait(spent.now + 60 - later.now);
          later = await bench.peek(charge);
        }
        const { remaining, resetAfterMs, moreAfterMs } = only(later);
        assert.deepEqual([remaining, resetAfterMs, moreAfterMs], [4, 0, 0]);
      }
    },
  };
}

async function lateRefund(bench: Bench): Promise<void> {
  for (const rule of [bucket(2, 2, 100), log(2, 100)]) {
    const charge = bench.charge(rule, bench.name(), 2);
    bench.now = AT;
    const verdict = only(await bench.consume(charge));
    bench.now = AT + 100;
    assert.equal((await bench.refund(charge, verdict)).givenBack, 0);
    const { remaining, resetAfterMs } = only(await bench.peek(charge));
    assert.deepEqual([remaining, resetAfterMs], [2, 0], 'no credit is left behind');
    bench.now = AT + 10_000_000;
    assert.equal(only(await bench.consume(charge)).remaining, 0);
  }
}

async function longKept(bench: Bench): Promise<void> {
  const charge = bench.charge(log(1, LONG), bench.name());
  bench.now = AT;
  await bench.consume(charge);
  bench.now = AT + LONG - 1;
  assert.equal(only(await bench.consume(charge)).retryAfterMs, 1);
  bench.now = AT + LONG;
  assert.equal(only(await bench.consume(charge)).admits, true);
}

export const expiry: Group = {
  name: 'expiry',
  checks: [
    ...forEachKind(asNewAtTheEnd),
    ...forEachKind(keptWhileOthersComeAndGo),
    ...forEachKind(forgetsInTheEnd),
    ...forEachKind(realWindow),
    {
      title: 'a refund after the charge has expired gives nothing and leaves no credit',
      needs: ['turned-clock'],
      run: lateRefund,
    },
    { title: 'the longest window of 2^42 ms is kept to its last millisecond', needs: ['turned-clock'], run: longKept },
  ],
};
