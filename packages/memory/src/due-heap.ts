/**
 * Which slot has to be looked at next: a min-heap of (time, slot), four children a node. A slot's time may lie earlier than
 * it would now be due; whoever finds it on top corrects it. So a write that makes a key due later costs nothing.
 */
import { grownFloats, HALVES, PLACE, type Slots } from './slots.js';

export class DueHeap {
  /** Where each slot stands, in its record. */
  readonly #places: Slots;
  /** The nodes; the children of node i are 4i+1 .. 4i+4. Where the heap is empty, the first time is Infinity. */
  #due: Float64Array<ArrayBuffer>;
  #slots: Uint32Array<ArrayBuffer>;
  #size = 0;

  /** As much room as `slots` has. */
  constructor(slots: Slots) {
    this.#places = slots;
    this.#due = new Float64Array(slots.room).fill(Number.POSITIVE_INFINITY);
    this.#slots = new Uint32Array(slots.room);
  }

  /** The slots have more room. */
  grow(): void {
    const { room } = this.#places;
    this.#due = grownFloats(this.#due, room);
    const slots = new Uint32Array(room);
    slots.set(this.#slots);
    this.#slots = slots;
  }

  /** The slot that is due first, where there is any. */
  top(): number {
    return this.#slots[0] as number;
  }

  /** When the slot on top is to be looked at; Infinity when there is none. */
  topDue(): number {
    return this.#due[0] as number;
  }

  /** Adds a slot that is never due. */
  add(slot: number): void {
    this.#put(this.#size, slot, Number.POSITIVE_INFINITY);
    this.#size += 1;
  }

  /** Is due at `due` or earlier; a later time is left to be found on top. */
  lower(slot: number, due: number): void {
    const at = (this.#places.halves[HALVES * slot + PLACE] as number) - 1;
    if (due < (this.#due[at] as number)) this.#rise(at, slot, due);
  }

  /** The slot on top is due later than it was thought to be. */
  postponeTop(due: number): void {
    this.#sink(0, this.#slots[0] as number, due);
  }

  remove(slot: number): void {
    const { halves } = this.#places;
    const at = (halves[HALVES * slot + PLACE] as number) - 1;
    halves[HALVES * slot + PLACE] = 0;
    this.#size -= 1;
    const last = this.#slots[this.#size] as number;
    const due = this.#due[this.#size] as number;
    this.#due[this.#size] = Number.POSITIVE_INFINITY;
    if (at === this.#size) return;
    if (due < (this.#due[at] as number)) this.#rise(at, last, due);
    else this.#sink(at, last, due);
  }

  #rise(from: number, slot: number, due: number): void {
    let at = from;
    while (at > 0) {
      const up = (at - 1) >>> 2;
      const upDue = this.#due[up] as number;
      if (upDue <= due) break;
      this.#put(at, this.#slots[up] as number, upDue);
      at = up;
    }
    this.#put(at, slot, due);
  }

  #sink(from: number, slot: number, due: number): void {
    const dues = this.#due;
    let at = from;
    for (;;) {
      const first = 4 * at + 1;
      const end = Math.min(first + 4, this.#size);
      let down = -1;
      let least = due;
      for (let child = first; child < end; child += 1) {
        const childDue = dues[child] as number;
        if (childDue >= least) continue;
        least = childDue;
        down = child;
      }
      if (down < 0) break;
      this.#put(at, this.#slots[down] as number, least);
      at = down;
    }
    this.#put(at, slot, due);
  }

  #put(at: number, slot: number, due: number): void {
    this.#due[at] = due;
    this.#slots[at] = slot;
    this.#places.halves[HALVES * slot + PLACE] = at + 1;
  }
}
