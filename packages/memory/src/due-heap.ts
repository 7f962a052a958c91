/**
 * Which key has to be looked at next: a binary min-heap of slots by time, in typed arrays. A slot's time may lie earlier
 * than it would now be due; whoever finds it on top corrects it. So a write that makes a key due later costs nothing.
 */

/** Positions are kept one higher, so that 0 means "not in the heap". */
export class DueHeap {
  #due: Float64Array<ArrayBuffer>;
  #heap: Uint32Array<ArrayBuffer>;
  #place: Uint32Array<ArrayBuffer>;
  #size = 0;

  constructor(capacity: number) {
    this.#due = new Float64Array(capacity);
    this.#heap = new Uint32Array(capacity);
    this.#place = new Uint32Array(capacity);
  }

  /** Room for slots 0 .. capacity-1. */
  grow(capacity: number): void {
    this.#due = grownFloats(this.#due, capacity);
    const heap = new Uint32Array(capacity);
    heap.set(this.#heap);
    this.#heap = heap;
    const place = new Uint32Array(capacity);
    place.set(this.#place);
    this.#place = place;
  }

  /** The slot that is due first, or -1. */
  top(): number {
    return this.#size === 0 ? -1 : (this.#heap[0] as number);
  }

  /** When the slot on top is to be looked at; Infinity when there is none. */
  topDue(): number {
    return this.#size === 0 ? Number.POSITIVE_INFINITY : (this.#due[this.#heap[0] as number] as number);
  }

  add(slot: number, due: number): void {
    this.#due[slot] = due;
    this.#rise(this.#size, slot, due);
    this.#size += 1;
  }

  /** Is due at `due` or earlier; a later time is left to be found on top. */
  lower(slot: number, due: number): void {
    if (due >= (this.#due[slot] as number)) return;
    this.#due[slot] = due;
    this.#rise((this.#place[slot] as number) - 1, slot, due);
  }

  /** The slot on top is due later than it was thought to be. */
  postponeTop(due: number): void {
    const slot = this.#heap[0] as number;
    this.#due[slot] = due;
    this.#sink(0, slot, due);
  }

  remove(slot: number): void {
    const at = (this.#place[slot] as number) - 1;
    this.#place[slot] = 0;
    this.#size -= 1;
    if (at === this.#size) return;
    const last = this.#heap[this.#size] as number;
    const due = this.#due[last] as number;
    this.#rise(at, last, due);
    this.#sink((this.#place[last] as number) - 1, last, due);
  }

  #rise(from: number, slot: number, due: number): void {
    let at = from;
    while (at > 0) {
      const up = (at - 1) >>> 1;
      const other = this.#heap[up] as number;
      if ((this.#due[other] as number) <= due) break;
      this.#put(at, other);
      at = up;
    }
    this.#put(at, slot);
  }

  #sink(from: number, slot: number, due: number): void {
    let at = from;
    for (;;) {
      let down = 2 * at + 1;
      if (down >= this.#size) break;
      let other = this.#heap[down] as number;
      let otherDue = this.#due[other] as number;
      if (down + 1 < this.#size) {
        const right = this.#heap[down + 1] as number;
        const rightDue = this.#due[right] as number;
        if (rightDue < otherDue) {
          down += 1;
          other = right;
          otherDue = rightDue;
        }
      }
      if (otherDue >= due) break;
      this.#put(at, other);
      at = down;
    }
    this.#put(at, slot);
  }

  #put(at: number, slot: number): void {
    this.#heap[at] = slot;
    this.#place[slot] = at + 1;
  }
}

/** The same numbers in a longer array. */
export function grownFloats(old: Float64Array<ArrayBuffer>, capacity: number): Float64Array<ArrayBuffer> {
  const grown = new Float64Array(capacity);
  grown.set(old);
  return grown;
}
