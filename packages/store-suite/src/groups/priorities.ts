/** Priorities: what is held back from a call is kept free for more important ones. */
import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import { type Bench, only } from '../bench.js';
import type { Check, Group } from '../check.js';
import { RULE_KINDS, ruleOf } from '../histories.js';
import { forAll } from '../property.js';
import { clockWindow, forEachKind, type Kind, LONG, log } from '../rules.js';

function shedInOrder(kind: Kind): Check {
  return {
    title: `${kind.name} of 10 with 5 held back from low and 2 from normal admits 5 low, 3 normal and 2 high calls`,
    run: async (bench) => {
      const rule = kind.rule(10, LONG);
      const name = bench.name();
      const admitted = async (holdBack: number): Promise<number> => {
        for (let n = 0; ; n += 1) {
          const outcome = await bench.consume(bench.charge(rule, name, 1, { holdBack }));
          assert.equal(
            only(outcome).heldBack,
            !outcome.allowed && holdBack > 0,
            'heldBack: refused for its priority alone',
          );
          if (!outcome.allowed) return n;
        }
      };
      assert.deepEqual([await admitted(5), await admitted(2), await admitted(0)], [5, 3, 2]);
    },
  };
}

function remainingByPriority(kind: Kind): Check {
  return {
    title: `${kind.name} reports what remains for the priority that asks`,
    run: async (bench) => {
      const rule = kind.rule(10, LONG);
      const name = bench.name();
      await bench.consume(bench.charge(rule, name, 4));
      const left = async (holdBack: number): Promise<number> =>
        only(await bench.peek(bench.charge(rule, name, 1, { holdBack }))).remaining;
      assert.deepEqual([await left(0), await left(2), await left(6), await left(7), await left(10)], [6, 4, 0, 0, 0]);
    },
  };
}

function neverForThisPriority(kind: Kind): Check {
  return {
    title: `${kind.name} tells a priority that its cost can never fit beside what is held back: the wait is Infinity`,
    run: async (bench) => {
      const rule = kind.rule(10, LONG);
      const name = bench.name();
      const verdict = only(await bench.consume(bench.charge(rule, name, 6, { holdBack: 5 })));
      assert.deepEqual(
        [verdict.admits, verdict.heldBack, verdict.retryAfterMs],
        [false, true, Number.POSITIVE_INFINITY],
      );
      const most = only(await bench.consume(bench.charge(rule, name, 5, { holdBack: 5 })));
      assert.deepEqual([most.admits, most.remaining], [true, 0]);
      const all = only(await bench.peek(bench.charge(rule, name, 1, { holdBack: 10 })));
      assert.deepEqual([all.admits, all.retryAfterMs, all.moreAfterMs], [false, Number.POSITIVE_INFINITY, 0]);
    },
  };
}

function waitsForThisPriority(kind: Kind): Check {
  return {
    title: `${kind.name} tells each priority its own wait, to the millisecond`,
    needs: ['turned-clock'],
    run: async (bench) => {
      const rule = kind.rule(10, 60_000);
      const name = bench.name();
      bench.now -= bench.now % 60_000;
      for (let i = 0; i < 10; i += 1) {
        await bench.consume(bench.charge(rule, name));
        bench.now += 1_000;
      }
      const start = bench.now;
      const charges = [0, 3, 9].map((holdBack) => bench.charge(rule, name, 1, { holdBack }));
      const waits: number[] = [];
      for (const charge of charges) waits.push(only(await bench.peek(charge)).retryAfterMs);
      for (const [i, charge] of charges.entries()) {
        const wait = waits[i] as number;
        if (wait === 0) continue;
        bench.now = Math.max(bench.now, start + wait - 1);
        assert.equal(only(await bench.peek(charge)).admits, bench.now === start + wait, '1 ms before the told moment');
        bench.now = start + wait;
        assert.equal(only(await bench.peek(charge)).admits, true, 'at the told moment');
      }
      const [high, normal, low] = waits as [number, number, number];
      assert.ok(high <= normal && normal <= low, `the less important waits longer: ${waits.join(' <= ')}`);
    },
  };
}

async function costZero(bench: Bench): Promise<void> {
  for (const rule of [clockWindow(10, LONG), log(10, LONG)]) {
    const charge = bench.charge(rule, bench.name(), 0, { holdBack: 10 });
    const verdict = only(await bench.consume(charge));
    assert.deepEqual([verdict.admits, verdict.heldBack, verdict.remaining], [true, false, 0]);
  }
}

async function neverMore(bench: Bench): Promise<void> {
  const cases = fc.constantFrom(...RULE_KINDS).chain((kind) =>
    fc.record({
      rule: ruleOf(kind, 'small'),
      used: fc.nat({ max: 12 }),
      cost: fc.integer({ min: 1, max: 6 }),
      less: fc.nat({ max: 6 }),
      more: fc.nat({ max: 6 }),
    }),
  );
  await forAll(bench, cases, async ({ rule, used, cost, less, more }) => {
    const name = bench.name();
    await bench.consume(bench.charge(rule, name, used));
    const high = bench.charge(rule, name, cost, { holdBack: less });
    const low = { ...high, holdBack: less + more };
    const outcomes = await bench.run([high, low].map((charge) => ({ op: 'peek' as const, charges: [charge] })));
    const [first, second] = outcomes.map((outcome) => {
      assert.ok(outcome.ok && outcome.op === 'peek');
      return only(outcome);
    });
    assert.ok(first !== undefined && second !== undefined);
    assert.ok(first.admits || !second.admits, 'what is refused to the more important is refused to the less important');
    assert.ok(first.remaining >= second.remaining);
    assert.ok(first.retryAfterMs <= second.retryAfterMs);
  });
}

export const priorities: Group = {
  name: 'priorities',
  checks: [
    ...forEachKind(shedInOrder),
    ...forEachKind(remainingByPriority),
    ...forEachKind(neverForThisPriority),
    ...forEachKind(waitsForThisPriority),
    { title: 'cost 0 is admitted whatever is held back', run: costZero },
    {
      title: 'a less important call never gets more than a more important one',
      needs: ['turned-clock'],
      run: neverMore,
    },
  ],
};
