import fc from 'fast-check';
import { LRUCache } from 'lru-cache';
import { describe, expect, it } from 'vitest';
import { Recency } from '../src/recency.js';
import { EXHAUSTED, FIRST_SLOT, Slots, WITH_BUDGET } from '../src/slots.js';

const KEYS = 30;
const order = fc.constantFrom(WITH_BUDGET, EXHAUSTED);
const slot = fc.integer({ min: FIRST_SLOT, max: FIRST_SLOT + KEYS - 1 });
const command = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('use' as const), slot, order }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), slot }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('take' as const), order }) },
);

describe('the orders of use', () => {
  it('are those that lru-cache keeps', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 200, size: 'max' }), (commands) => {
        const slots = new Slots(FIRST_SLOT);
        const recency = new Recency(slots);
        const oracles = [new LRUCache<number, true>({ max: KEYS }), new LRUCache<number, true>({ max: KEYS })] as const;
        const take = (from: typeof WITH_BUDGET | typeof EXHAUSTED): void => {
          const oldest = [...oracles[from].rkeys()][0] ?? -1;
          expect(recency.oldest(from)).toBe(oldest);
          if (oldest < 0) return;
          oracles[from].delete(oldest);
          recency.remove(oldest);
        };
        for (const one of commands) {
          if (one.do === 'take') {
            take(one.order);
            continue;
          }
          const was = oracles.findIndex((oracle) => oracle.delete(one.slot));
          if (was >= 0) recency.remove(one.slot);
          if (one.do === 'remove') continue;
          if (one.slot >= slots.room) slots.grow(one.slot + 1);
          recency.add(one.slot, one.order);
          oracles[one.order].set(one.slot, true);
          expect(recency.isLast(one.slot)).toBe(true);
          const others = [...oracles[one.order].keys()].slice(1);
          expect(others.some((other) => recency.isLast(other))).toBe(false);
        }
        for (const from of [WITH_BUDGET, EXHAUSTED] as const) {
          for (let left = oracles[from].size; left >= 0; left -= 1) take(from);
        }
      }),
      { numRuns: 300 },
    );
  });
});
