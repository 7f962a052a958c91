import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DueHeap } from '../src/due-heap.js';
import { Slots } from '../src/slots.js';

const command = fc.oneof(
  fc.record({ do: fc.constant('add' as const), slot: fc.nat({ max: 40 }), due: fc.nat({ max: 50 }) }),
  fc.record({ do: fc.constant('lower' as const), slot: fc.nat({ max: 40 }), due: fc.nat({ max: 50 }) }),
  fc.record({ do: fc.constant('remove' as const), slot: fc.nat({ max: 40 }) }),
  fc.record({ do: fc.constant('postpone' as const), by: fc.nat({ max: 50 }) }),
);

describe('the heap of keys that are due', () => {
  it('always has one on top that no other is due before', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 300, size: 'max' }), (commands) => {
        const slots = new Slots(1);
        const heap = new DueHeap(slots);
        const due = new Map<number, number>();
        let room = 1;
        for (const one of commands) {
          if (one.do === 'add' && !due.has(one.slot)) {
            while (one.slot >= room || due.size >= room) {
              room *= 2;
              slots.grow(room);
              heap.grow();
            }
            heap.add(one.slot);
            heap.lower(one.slot, one.due);
            due.set(one.slot, one.due);
          } else if (one.do === 'lower' && due.has(one.slot)) {
            heap.lower(one.slot, one.due);
            due.set(one.slot, Math.min(one.due, due.get(one.slot) as number));
          } else if (one.do === 'remove' && due.has(one.slot)) {
            heap.remove(one.slot);
            due.delete(one.slot);
          } else if (one.do === 'postpone' && due.size > 0) {
            const later = heap.topDue() + one.by;
            due.set(heap.top(), later);
            heap.postponeTop(later);
          }
          expect(heap.topDue()).toBe(Math.min(Number.POSITIVE_INFINITY, ...due.values()));
          if (due.size > 0) expect(due.get(heap.top())).toBe(heap.topDue());
        }
      }),
      { numRuns: 300 },
    );
  });
});
