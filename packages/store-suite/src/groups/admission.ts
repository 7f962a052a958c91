/** One limit: what it admits, what it refuses, and what that costs. */
import { strict as assert } from 'node:assert';
import { only } from '../bench.js';
import type { Check, Group } from '../check.js';
import { forEachKind, type Kind, LONG } from '../rules.js';

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

export const admission: Group = {
  name: 'admission',
  checks: [
    ...forEachKind(admitsExactly),
    ...forEachKind(refusalChargesNothing),
    ...forEachKind(refusalLeavesBytes),
    ...forEachKind(peekSaysWhatConsumeWould),
    ...forEachKind(costZero),
    ...forEachKind(neverFits),
  ],
};
