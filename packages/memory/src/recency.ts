/**
 * Slots in the order of their last use: two lists, doubly linked within the slots' records. A list is a ring through a slot
 * that is no key, so that neither end is a special case.
 */
import { AFTER, BEFORE, EXHAUSTED, FIRST_SLOT, HALVES, type Slots, WITH_BUDGET } from './slots.js';

export type Order = typeof WITH_BUDGET | typeof EXHAUSTED;

export class Recency {
  readonly #slots: Slots;

  constructor(slots: Slots) {
    this.#slots = slots;
    for (const order of [WITH_BUDGET, EXHAUSTED]) {
      slots.halves[HALVES * order + BEFORE] = order;
      slots.halves[HALVES * order + AFTER] = order;
    }
  }

  /** Adds a slot as the last used. */
  add(slot: number, order: Order): void {
    const { halves } = this.#slots;
    const end = HALVES * order + BEFORE;
    const last = halves[end] as number;
    halves[HALVES * slot + BEFORE] = last;
    halves[HALVES * slot + AFTER] = order;
    halves[HALVES * last + AFTER] = slot;
    halves[end] = slot;
  }

  remove(slot: number): void {
    const { halves } = this.#slots;
    const before = halves[HALVES * slot + BEFORE] as number;
    const after = halves[HALVES * slot + AFTER] as number;
    halves[HALVES * before + AFTER] = after;
    halves[HALVES * after + BEFORE] = before;
  }

  /** Is no slot of its order used later? */
  isLast(slot: number): boolean {
    return (this.#slots.halves[HALVES * slot + AFTER] as number) < FIRST_SLOT;
  }

  /** The slot of an order that was used least recently, -1 when it is empty. */
  oldest(order: Order): number {
    const slot = this.#slots.halves[HALVES * order + AFTER] as number;
    return slot < FIRST_SLOT ? -1 : slot;
  }
}
