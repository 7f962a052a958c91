import type { Charge } from '@limiter/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Eviction, memoryStore } from '../src/index.js';
import { bucket, charge, consume, fixed, log, peek, refund, remaining, START } from './steps.js';

const HOUR = 3_600_000;

function open(max: number) {
  const evictions: Eviction[] = [];
  const clock = { now: START };
  const store = memoryStore({ max, clock: () => clock.now, onEvict: (eviction) => evictions.push(eviction) });
  return { store, clock, evictions };
}

describe('when there is no room for a new key', () => {
  it('a key whose budget is full again leaves first, though it was used last', () => {
    const { store, clock, evictions } = open(2);
    const old = charge(fixed(5, HOUR), 'old');
    consume(store, old);
    consume(store, charge(fixed(5, 1_000), 'short'));
    clock.now += 1_000;
    consume(store, charge(fixed(5, HOUR), 'new'));
    expect(remaining(store, old)).toBe(4);
    expect(evictions).toEqual([]);
    expect(store.stats()).toEqual({ size: 2, max: 2, evictedExpired: 1, evictedLive: 0, evictedExhausted: 0 });
  });

  it('then the least recently used key that still has budget, and a refused question is a use', () => {
    const { store, evictions } = open(3);
    const rule = fixed(3, HOUR);
    for (const key of ['a', 'b', 'c']) consume(store, charge(rule, key));
    expect(consume(store, charge(rule, 'a', { cost: 3 })).allowed).toBe(false);
    consume(store, charge(rule, 'd'));
    expect(evictions).toEqual([
      { values: ['b'], slot: undefined, ledgers: ['api/limit'], exhausted: false, fullAgainInMs: HOUR },
    ]);
    expect(store.stats()).toMatchObject({ size: 3, evictedExpired: 0, evictedLive: 1, evictedExhausted: 0 });
  });

  it('the order of use outlives the growth of the store', () => {
    const { store, evictions } = open(1_000);
    for (let i = 0; i < 1_000; i += 1) consume(store, charge(fixed(3, HOUR), `key:${i}`));
    for (const i of [0, 2, 4]) consume(store, charge(fixed(3, HOUR), `key:${i}`));
    for (let i = 0; i < 5; i += 1) consume(store, charge(fixed(3, HOUR), `new:${i}`));
    expect(evictions.map(({ values }) => values[0])).toEqual(['key:1', 'key:3', 'key:5', 'key:6', 'key:7']);
  });

  it('looking at a key without charging it is no use', () => {
    const { store, evictions } = open(2);
    const rule = fixed(3, HOUR);
    for (const key of ['a', 'b']) consume(store, charge(rule, key));
    peek(store, charge(rule, 'a'));
    consume(store, charge(rule, 'c'));
    expect(evictions.map(({ values }) => values)).toEqual([['a']]);
  });

  it('a blocked key outlives any number of new keys that have budget', () => {
    const { store, evictions } = open(100);
    const blocked = charge(fixed(3, HOUR), 'attacker', { cost: 3 });
    consume(store, blocked);
    for (let i = 0; i < 10_000; i += 1) consume(store, charge(fixed(3, HOUR), `one-off:${i}`));
    expect(remaining(store, blocked)).toBe(0);
    expect(evictions).toHaveLength(9_901);
    expect(evictions.every(({ exhausted }) => !exhausted)).toBe(true);
  });

  it('exhausted keys leave last, the least recently used first, and are counted as free budgets', () => {
    const { store, evictions } = open(2);
    const rule = fixed(1, HOUR);
    for (const key of ['a', 'b']) consume(store, charge(rule, key));
    consume(store, charge(rule, 'a'));
    consume(store, charge(rule, 'c'));
    expect(evictions).toMatchObject([{ values: ['b'], exhausted: true }]);
    expect(store.stats()).toMatchObject({ size: 2, evictedLive: 0, evictedExhausted: 1 });
    expect(remaining(store, charge(rule, 'a'))).toBe(0);
    expect(remaining(store, charge(rule, 'b'))).toBe(1);
  });

  it('a key is exhausted by any one of its limits, and what is held back from others does not count', () => {
    const { store, evictions } = open(2);
    const day = fixed(100, 24 * HOUR);
    consume(store, charge(fixed(1, HOUR), 'a', { name: 'api/burst' }), charge(day, 'a', { name: 'api/day' }));
    consume(store, charge(day, 'b', { name: 'api/day', holdBack: 99 }));
    consume(store, charge(day, 'c', { name: 'api/day' }));
    expect(evictions).toMatchObject([{ values: ['b'], ledgers: ['api/day'], exhausted: false }]);
    consume(store, charge(fixed(1, HOUR), 'c', { name: 'api/burst' }));
    consume(store, charge(day, 'd', { name: 'api/day' }));
    expect(evictions[1]).toMatchObject({ values: ['a'], ledgers: ['api/day', 'api/burst'], exhausted: true });
  });

  it('a key that has budget again leaves with the others, as if it had been used at that moment', () => {
    const { store, clock, evictions } = open(3);
    const tokens = bucket(2, 1, 1_000);
    consume(store, charge(tokens, 'drained', { cost: 2 }));
    clock.now += 500;
    consume(store, charge(fixed(9, HOUR), 'early'));
    clock.now += 600;
    consume(store, charge(fixed(9, HOUR), 'late'));
    clock.now += 100;
    for (const key of ['x', 'y']) consume(store, charge(fixed(9, HOUR), key));
    expect(evictions.map(({ values }) => values[0])).toEqual(['early', 'late']);
    consume(store, charge(fixed(9, HOUR), 'z'));
    expect(evictions[2]).toMatchObject({ values: ['drained'], exhausted: false, fullAgainInMs: 800 });
  });

  it('a refund makes an exhausted key one with budget', () => {
    const { store, evictions } = open(2);
    const rule = fixed(1, HOUR);
    const { verdicts } = consume(store, charge(rule, 'a'));
    consume(store, charge(rule, 'b'));
    refund(store, charge(rule, 'a'), verdicts[0]?.mark);
    consume(store, charge(rule, 'c'));
    expect(evictions).toMatchObject([{ values: ['a'], exhausted: false }]);
  });

  it('an evicted key begins with a full budget, and a receipt from before gives it nothing', () => {
    const { store } = open(1);
    const rule = fixed(5, HOUR);
    const before = consume(store, charge(rule, 'a', { cost: 5 })).verdicts[0]?.mark;
    consume(store, charge(rule, 'b'));
    consume(store, charge(rule, 'a', { cost: 2 }));
    expect(refund(store, charge(rule, 'a', { cost: 5 }), before)).toEqual({ givenBack: 0, charged: 0, cut: 0 });
    expect(remaining(store, charge(rule, 'a'))).toBe(3);
  });

  it('one question may name more keys than there is room for', () => {
    const { store } = open(1);
    const rule = fixed(5, HOUR);
    const names = ['a', 'b', 'a', 'b', 'a'];
    const charges = names.map((key, i) => charge(rule, key, { name: `api/limit${i}` }));
    for (let round = 0; round < 3; round += 1) {
      const { allowed, verdicts } = consume(store, ...charges);
      expect(allowed).toBe(true);
      for (const verdict of verdicts) expect(verdict.remaining).toBeLessThan(5);
      expect(store.stats().size).toBe(1);
    }
    expect(remaining(store, charges[4] as Charge)).toBe(2);
  });

  it('a log that the keys of its own question put out comes back within it with all that it counted', () => {
    const { store } = open(1);
    const rule = log(5, HOUR);
    const pair = [charge(rule, 'a', { name: 'api/a' }), charge(rule, 'b', { name: 'api/b' })] as const;
    consume(store, ...pair);
    const { verdicts } = consume(store, ...pair);
    expect(verdicts.map((verdict) => verdict.remaining)).toEqual([4, 3]);
    expect([remaining(store, pair[0]), remaining(store, pair[1])]).toEqual([5, 3]);
    expect(refund(store, pair[1], verdicts[1]?.mark)).toEqual({ givenBack: 1, charged: 0, cut: 0 });
    expect(remaining(store, pair[1])).toBe(4);
  });

  it('a key that its own question put out and took in again stands as what is left of it', () => {
    for (const rule of [fixed(5, HOUR), log(5, HOUR), bucket(5, 5, HOUR)]) {
      const { clock, store } = open(1);
      // Of 'a' the first charge is lost with the key, the last stays; all that it may spend is held back.
      consume(
        store,
        charge(rule, 'a', { name: 'api/first', holdBack: 4 }),
        charge(rule, 'b'),
        charge(rule, 'a', { name: 'api/last', holdBack: 4 }),
      );
      expect(remaining(store, charge(rule, 'a', { name: 'api/first' }))).toBe(5);
      expect(remaining(store, charge(rule, 'a', { name: 'api/last' }))).toBe(4);
      clock.now += HOUR;
      consume(store, charge(rule, 'c', { cost: 0 }));
      expect(store.stats()).toMatchObject({ size: 0, evictedExpired: 1 });
    }
  });

  it('what a listener throws is its own affair', () => {
    const store = memoryStore({
      max: 1,
      onEvict: () => {
        throw new Error('the log is full');
      },
    });
    consume(store, charge(fixed(5, HOUR), 'a'));
    expect(consume(store, charge(fixed(5, HOUR), 'b')).allowed).toBe(true);
    expect(store.stats()).toMatchObject({ size: 1, evictedLive: 1 });
  });

  it('names the values and the slot of an evicted key as they were given', () => {
    const { store, evictions } = open(1);
    const rule = fixed(5, HOUR);
    const keys: readonly { readonly values: readonly string[]; readonly slot: string | undefined }[] = [
      { values: ['plain'], slot: undefined },
      { values: [], slot: undefined },
      { values: ['\u0000-1:x'], slot: undefined },
      { values: ['org:7', '3:abc', ''], slot: undefined },
      { values: ['org:7'], slot: '' },
      { values: ['', '\ud800'], slot: '12:{tag}' },
    ];
    for (const { values, slot } of keys) consume(store, charge(rule, values, slot === undefined ? {} : { slot }));
    consume(store, charge(rule, 'last'));
    expect(evictions.map(({ values, slot }) => ({ values, slot }))).toEqual(keys);
  });
});

describe('keys that nobody needs any more', () => {
  it('leave two at a time with later questions, so a million one-off keys do not stay', () => {
    const { store, clock } = open(1_000_000);
    for (let i = 0; i < 20_000; i += 1) consume(store, charge(log(5, 1_000), `one-off:${i}`));
    expect(store.stats().size).toBe(20_000);
    clock.now += 1_000;
    consume(store, charge(log(5, 1_000), 'regular'));
    expect(store.stats().size).toBe(20_001 - 2);
    for (let i = 0; i < 11_000; i += 1) {
      clock.now += 1;
      consume(store, charge(log(5, 1_000), 'regular'));
    }
    expect(store.stats()).toEqual({
      size: 1,
      max: 1_000_000,
      evictedExpired: 20_000,
      evictedLive: 0,
      evictedExhausted: 0,
    });
  });

  it('leave with refused questions too, but not when somebody only looks', () => {
    const { store, clock } = open(10);
    const blocked = charge(fixed(1, HOUR), 'blocked');
    consume(store, blocked);
    consume(store, charge(fixed(1, 1_000), 'a'));
    clock.now += 1_000;
    peek(store, blocked);
    expect(store.stats().size).toBe(2);
    expect(consume(store, blocked).allowed).toBe(false);
    expect(store.stats().size).toBe(1);
  });

  it('a window of which everything was given back stays until it ends, and so where it moved with the clock', () => {
    const { store, clock } = open(10);
    const one = charge(fixed(5, HOUR), 'a');
    refund(store, one, consume(store, one).verdicts[0]?.mark);
    clock.now -= HOUR;
    expect(consume(store, charge(fixed(5, HOUR), 'a', { cost: 6 })).allowed).toBe(false);
    clock.now += HOUR / 2;
    expect(consume(store, one).verdicts[0]?.resetAfterMs).toBe(HOUR / 2);
  });

  it('a bucket stays until it is full under the rule that last wrote it', () => {
    const { store, clock } = open(10);
    const slow = charge(bucket(10, 1, 1_000), 'a', { cost: 10 });
    consume(store, slow);
    clock.now += 1_000;
    consume(store, charge(bucket(10, 2, 1_000), 'a', { cost: 2 }));
    const touch = (): unknown => consume(store, charge(fixed(1_000, HOUR), 'other'));
    clock.now += 4_999;
    touch();
    expect(store.stats().size).toBe(2);
    clock.now += 1;
    touch();
    expect(store.stats().size).toBe(1);
  });
});

describe('a use', () => {
  it('is each key of a question in its order, and each that a refund names; a look is none, whatever came before', () => {
    const keys = ['a', 'b', 'c', 'd'];
    const rule = fixed(1_000, HOUR);
    const chargeOf = (key: string, i: number): Charge => charge(rule, key, { name: `api/limit${i}` });
    const step = fc.record({
      op: fc.constantFrom('consume', 'consume', 'refund', 'peek'),
      asked: fc.array(fc.constantFrom(...keys), { minLength: 1, maxLength: 3 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25, size: 'max' }), (steps) => {
        const { store, evictions } = open(keys.length);
        let order: string[] = [];
        const uses = (asked: readonly string[]): void => {
          for (const key of asked) order = [...order.filter((other) => other !== key), key];
        };
        for (const { op, asked } of steps) {
          const charges = asked.map(chargeOf);
          if (op === 'consume') {
            consume(store, ...charges);
            uses(asked);
          } else if (op === 'peek') peek(store, ...charges);
          else {
            const [key] = asked as [string];
            refund(store, chargeOf(key, 0), undefined);
            if (order.includes(key)) uses([key]);
          }
        }
        for (let i = 0; evictions.length < order.length; i += 1) consume(store, charge(rule, `new${i}`));
        expect(evictions.map(({ values }) => values[0])).toEqual(order);
      }),
      { numRuns: 300 },
    );
  });
});

// ---- against a model ------------------------------------------------------------------------------------------------

const RULES = [fixed(2, 40), fixed(3, 400), log(2, 60), log(3, 500), bucket(2, 1, 30), bucket(3, 1, 150)];

interface Move {
  readonly key: number;
  readonly cost: number;
  readonly which: 'both' | 'first' | 'second';
  readonly afterMs: number;
}

const move: fc.Arbitrary<Move> = fc.record({
  key: fc.nat({ max: 11 }),
  cost: fc.integer({ min: 1, max: 3 }),
  which: fc.constantFrom('both', 'both', 'first', 'second'),
  afterMs: fc.oneof({ weight: 6, arbitrary: fc.nat({ max: 6 }) }, { weight: 1, arbitrary: fc.nat({ max: 200 }) }),
});

/** What the test knows of a key: its answers come from peeking at all of its limits just before each question. */
interface Known {
  readonly lastUse: number;
  /** Nothing was left of a limit right after its last use: until when. */
  readonly exhaustedUntil: number;
}

function chargesOf(key: number, cost: number): readonly [Charge, Charge] {
  const one = RULES[key % RULES.length] as (typeof RULES)[number];
  const two = RULES[(key * 5 + 1) % RULES.length] as (typeof RULES)[number];
  return [charge(one, `key:${key}`, { cost, name: 'api/one' }), charge(two, `key:${key}`, { cost, name: 'api/two' })];
}

describe('who leaves', () => {
  it('is always an expired key if there is one, else the least recently used with budget, else an exhausted one', () => {
    const run = (max: number, history: readonly Move[]): void => {
      const { store, clock, evictions } = open(max);
      const known = new Map<number, Known>();
      let uses = 0;
      for (const { key, cost, which, afterMs } of history) {
        clock.now += afterMs;
        const standing = [...known.keys()].map((one) => {
          const { verdicts } = peek(store, ...chargesOf(one, 1));
          const live = verdicts.some(({ resetAfterMs }) => resetAfterMs > 0);
          return { key: one, live, exhausted: verdicts.some((verdict) => verdict.remaining === 0) };
        });
        const live = standing.filter((one) => one.live);
        const [first, second] = chargesOf(key, cost);
        const asked = which === 'both' ? [first, second] : which === 'first' ? [first] : [second];
        const { allowed } = consume(store, ...asked);
        uses += 1;
        const isNew = !live.some((one) => one.key === key);
        const gone = evictions.splice(0);
        expect(gone).toHaveLength(allowed && isNew && live.length === max ? 1 : 0);
        for (const { values, exhausted } of gone) {
          const left = Number(values[0]?.slice(4));
          const was = live.find((one) => one.key === left);
          expect(was?.exhausted).toBe(exhausted);
          if (exhausted) expect(live.every((one) => one.exhausted)).toBe(true);
          const leaver = known.get(left) as Known;
          for (const other of live) {
            const { lastUse, exhaustedUntil } = known.get(other.key) as Known;
            // Keys that were never exhausted since their last use stand in plain order of use.
            if (exhausted || (exhaustedUntil === 0 && leaver.exhaustedUntil === 0 && !other.exhausted)) {
              expect(lastUse).toBeGreaterThanOrEqual(leaver.lastUse);
            }
          }
          known.delete(left);
        }
        if (allowed || !isNew) {
          const after = peek(store, ...chargesOf(key, 1)).verdicts.filter((verdict) => verdict.remaining === 0);
          const exhaustedUntil = Math.max(0, ...after.map(({ moreAfterMs }) => clock.now + moreAfterMs));
          known.set(key, { lastUse: uses, exhaustedUntil });
        }
        expect(store.stats().size).toBeLessThanOrEqual(max);
      }
    };
    fc.assert(fc.property(fc.integer({ min: 1, max: 7 }), fc.array(move, { maxLength: 150, size: 'max' }), run), {
      numRuns: 400,
      examples: [
        [
          3,
          [
            { key: 0, cost: 1, which: 'first', afterMs: 0 },
            { key: 1, cost: 2, which: 'both', afterMs: 0 },
            { key: 3, cost: 1, which: 'second', afterMs: 0 },
            // Refused at the very moment at which it has budget again: from now on it stands with the others, in order of use.
            { key: 1, cost: 2, which: 'first', afterMs: 40 },
            { key: 2, cost: 1, which: 'second', afterMs: 0 },
            { key: 0, cost: 1, which: 'both', afterMs: 0 },
            { key: 3, cost: 1, which: 'both', afterMs: 0 },
          ],
        ],
      ],
    });
  });
});
