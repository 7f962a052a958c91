/**
 * What the table knows of a key, a record of 40 bytes a slot. Its fields lie side by side, because with many keys a decision
 * takes as long as the lines of memory that it touches: an array a field would be a line a field.
 *
 * ```
 * float   0 forgetAt           half   4 before   6 headRow     8 ledgers
 *         1 exhaustedUntil            5 after    7 headSpace   9 place
 * ```
 *
 * The slots below FIRST_SLOT are no keys: each is the beginning and the end of one of the two orders of use (recency.ts).
 */

/** The order of the keys with budget, and that of the exhausted ones. */
export const WITH_BUDGET = 0;
export const EXHAUSTED = 1;
export const FIRST_SLOT = 2;

/** A record in 64-bit floats. */
export const FLOATS = 5;
/** From when on everything of the key may be forgotten. */
export const FORGET_AT = 0;
/** Until when the key is exhausted; 0: it stands among those with budget. */
export const EXHAUSTED_UNTIL = 1;

/** A record in 32-bit halves. */
export const HALVES = 10;
/** The slots beside it in its order of use. */
export const BEFORE = 4;
export const AFTER = 5;
/** The first of the key's chain of ledgers. For a free slot: the next free one, or 0. */
export const HEAD_ROW = 6;
export const HEAD_SPACE = 7;
/** How many ledgers the chain has. */
export const LEDGERS = 8;
/** Where in the heap of due times it stands (due-heap.ts), one higher; 0: nowhere. */
export const PLACE = 9;

export class Slots {
  floats: Float64Array<ArrayBuffer>;
  /** The same bytes. */
  halves: Uint32Array<ArrayBuffer>;
  room: number;

  /** Room for the slots 0 .. room-1. */
  constructor(room: number) {
    this.room = room;
    this.floats = new Float64Array(FLOATS * room);
    this.halves = new Uint32Array(this.floats.buffer);
  }

  grow(room: number): void {
    this.room = room;
    this.floats = grownFloats(this.floats, FLOATS * room);
    this.halves = new Uint32Array(this.floats.buffer);
  }
}

/** The same numbers in a longer array. */
export function grownFloats(old: Float64Array<ArrayBuffer>, length: number): Float64Array<ArrayBuffer> {
  const grown = new Float64Array(length);
  grown.set(old);
  return grown;
}
