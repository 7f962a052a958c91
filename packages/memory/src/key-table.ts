/**
 * The keys that are kept, a slot each: which was used when, when each may be forgotten, and who leaves when there is no room.
 *
 * ```
 *  with budget   a -> b -> c      by last use; from the left the next to leave
 *  exhausted     x -> y           nothing more of cost 1 is admissible; they leave last
 *  due           a heap of moments: an exhausted key has budget again, or a key's budget is full and it may be forgotten
 * ```
 *
 * No timer: each consume or adjust looks at one more key that is due than it has charges. A key that has budget again counts as used at that moment.
 */
import { DueHeap, grownFloats } from './due-heap.js';
import { Recency } from './recency.js';
import { NO_SPACE } from './space.js';

const FIRST_ROOM = 64;
/** How many due keys a step may look at before it takes a live one's place. */
const LOOK_BEFORE_EVICTION = 32;

/** Why a key left. */
export type Leaving = 'expired' | 'with-budget' | 'exhausted';

export class KeyTable {
  readonly max: number;
  /** Told before a key leaves: its ledgers go with it. */
  readonly #onLeave: (slot: number, key: string, why: Leaving, now: number) => void;
  readonly #withBudget: Recency;
  readonly #exhausted: Recency;
  readonly #due: DueHeap = new DueHeap(FIRST_ROOM);
  #keys: (string | undefined)[] = new Array(FIRST_ROOM);
  /** From when on everything of the key may be forgotten. */
  #forgetAt: Float64Array<ArrayBuffer> = new Float64Array(FIRST_ROOM);
  /** Until when the key is exhausted; 0: it stands among those with budget. */
  #exhaustedUntil: Float64Array<ArrayBuffer> = new Float64Array(FIRST_ROOM);
  /** The first of the key's chain of ledgers. For a free slot: the next free one, one higher. */
  #headSpace: Uint16Array<ArrayBuffer> = new Uint16Array(FIRST_ROOM);
  #headRow: Uint32Array<ArrayBuffer> = new Uint32Array(FIRST_ROOM);
  #room = FIRST_ROOM;
  #high = 0;
  #free = 0;
  size = 0;
  /** Goes up whenever the order of use changes in another way than by `use`. */
  changes = 0;

  constructor(max: number, onLeave: (slot: number, key: string, why: Leaving, now: number) => void) {
    this.max = max;
    this.#onLeave = onLeave;
    this.#withBudget = new Recency(max);
    this.#exhausted = new Recency(max);
  }

  /** The slot of a key, -1 when it is not kept; the key is now the last used. */
  use(key: string): number {
    return this.#withBudget.use(key) ?? this.#exhausted.use(key) ?? -1;
  }

  /** The slot of a key, -1 when it is not kept. */
  find(key: string): number {
    return this.#withBudget.peek(key) ?? this.#exhausted.peek(key) ?? -1;
  }

  keyAt(slot: number): string | undefined {
    return this.#keys[slot];
  }

  headSpace(slot: number): number {
    return this.#headSpace[slot] as number;
  }

  headRow(slot: number): number {
    return this.#headRow[slot] as number;
  }

  setHead(slot: number, space: number, row: number): void {
    this.#headSpace[slot] = space;
    this.#headRow[slot] = row;
  }

  forgetAt(slot: number): number {
    return this.#forgetAt[slot] as number;
  }

  exhaustedUntil(slot: number): number {
    return this.#exhaustedUntil[slot] as number;
  }

  /** A slot for a new key, as the last used; when there is no room another key leaves. */
  add(key: string, now: number): number {
    if (this.size >= this.max) this.#makeRoom(now);
    let slot = this.#free - 1;
    if (slot >= 0) this.#free = this.#headRow[slot] as number;
    else {
      if (this.#high === this.#room) this.#grow();
      slot = this.#high;
      this.#high += 1;
    }
    this.#keys[slot] = key;
    this.#forgetAt[slot] = Number.POSITIVE_INFINITY;
    this.#exhaustedUntil[slot] = 0;
    this.#headSpace[slot] = NO_SPACE;
    this.#due.add(slot, Number.POSITIVE_INFINITY);
    this.#withBudget.add(key, slot);
    this.size += 1;
    this.changes += 1;
    return slot;
  }

  /** What a write left of a key: when it may be forgotten, and until when it is exhausted (0: it is not). */
  settle(slot: number, forgetAt: number, exhaustedUntil: number): void {
    const was = this.#exhaustedUntil[slot] as number;
    this.#forgetAt[slot] = forgetAt;
    this.#exhaustedUntil[slot] = exhaustedUntil;
    if (exhaustedUntil === 0) {
      if (was !== 0) this.#move(slot, this.#exhausted, this.#withBudget);
      this.#due.lower(slot, forgetAt);
    } else {
      if (was === 0) this.#move(slot, this.#withBudget, this.#exhausted);
      this.#due.lower(slot, Math.min(exhaustedUntil, forgetAt));
    }
  }

  /** The key of a slot was used and nothing was written: when it has budget again by now, it stands there from this use on. */
  usedAt(slot: number, now: number): void {
    const until = this.#exhaustedUntil[slot] as number;
    if (until === 0 || until > now) return;
    this.#exhaustedUntil[slot] = 0;
    this.#move(slot, this.#exhausted, this.#withBudget);
  }

  /** Looks at up to `most` keys that are due: those whose budget is full leave. */
  sweep(now: number, most: number): void {
    for (let looked = 0; looked < most && this.#due.topDue() <= now; looked += 1) this.#lookAtDue(now);
  }

  /** The key leaves without being counted: it was reset. */
  remove(slot: number): void {
    this.#listOf(slot).delete(this.#keys[slot] as string);
    this.#release(slot);
  }

  #makeRoom(now: number): void {
    for (let looked = 0; looked < LOOK_BEFORE_EVICTION && this.#due.topDue() <= now; looked += 1) {
      if (this.#lookAtDue(now)) return;
    }
    const slot = this.#withBudget.takeOldest() ?? this.#exhausted.takeOldest();
    if (slot === undefined) return;
    const full = (this.#forgetAt[slot] as number) <= now;
    this.#leave(slot, full ? 'expired' : this.#exhaustedUntil[slot] === 0 ? 'with-budget' : 'exhausted', now);
  }

  /** Corrects the key that is due first; true when it left. */
  #lookAtDue(now: number): boolean {
    const slot = this.#due.top();
    const forgetAt = this.#forgetAt[slot] as number;
    if (forgetAt <= now) {
      this.#listOf(slot).delete(this.#keys[slot] as string);
      this.#leave(slot, 'expired', now);
      return true;
    }
    const exhaustedUntil = this.#exhaustedUntil[slot] as number;
    if (exhaustedUntil > now) {
      this.#due.postponeTop(Math.min(exhaustedUntil, forgetAt));
      return false;
    }
    if (exhaustedUntil !== 0) {
      this.#exhaustedUntil[slot] = 0;
      this.#move(slot, this.#exhausted, this.#withBudget);
    }
    this.#due.postponeTop(forgetAt);
    return false;
  }

  #leave(slot: number, why: Leaving, now: number): void {
    this.#onLeave(slot, this.#keys[slot] as string, why, now);
    this.#release(slot);
  }

  #release(slot: number): void {
    this.#due.remove(slot);
    this.#keys[slot] = undefined;
    this.#headRow[slot] = this.#free;
    this.#free = slot + 1;
    this.size -= 1;
    this.changes += 1;
  }

  #listOf(slot: number): Recency {
    return this.#exhaustedUntil[slot] === 0 ? this.#withBudget : this.#exhausted;
  }

  #move(slot: number, from: Recency, to: Recency): void {
    const key = this.#keys[slot] as string;
    from.delete(key);
    to.add(key, slot);
    this.changes += 1;
  }

  #grow(): void {
    const room = Math.min(this.max, 2 * this.#room);
    this.#room = room;
    // Of exactly that length: an array that grows by itself keeps half as much again in reserve.
    const keys: (string | undefined)[] = new Array(room);
    for (let slot = 0; slot < this.#high; slot += 1) keys[slot] = this.#keys[slot];
    this.#keys = keys;
    this.#due.grow(room);
    this.#forgetAt = grownFloats(this.#forgetAt, room);
    this.#exhaustedUntil = grownFloats(this.#exhaustedUntil, room);
    const headSpace = new Uint16Array(room);
    headSpace.set(this.#headSpace);
    this.#headSpace = headSpace;
    const headRow = new Uint32Array(room);
    headRow.set(this.#headRow);
    this.#headRow = headRow;
  }
}
