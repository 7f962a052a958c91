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
import { DueHeap } from './due-heap.js';
import { type Order, Recency } from './recency.js';
import {
  EXHAUSTED,
  EXHAUSTED_UNTIL,
  FIRST_SLOT,
  FLOATS,
  FORGET_AT,
  HALVES,
  HEAD_ROW,
  HEAD_SPACE,
  LEDGERS,
  Slots,
  WITH_BUDGET,
} from './slots.js';
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
  readonly #slots: Slots = new Slots(FIRST_ROOM);
  readonly #recency: Recency = new Recency(this.#slots);
  /** The time of a slot in it is never later than the slot is due: that is when it is `#dueOf`. */
  readonly #due: DueHeap = new DueHeap(this.#slots);
  readonly #slotOf: Map<string, number> = new Map();
  #keys: (string | undefined)[] = new Array(FIRST_ROOM);
  /** The slots below were in use at some time. */
  #high = FIRST_SLOT;
  /** The first of the chain of free slots, or 0. */
  #free = 0;
  size = 0;
  /** Goes up whenever the order of use changes in another way than by `use`. */
  changes = 0;

  constructor(max: number, onLeave: (slot: number, key: string, why: Leaving, now: number) => void) {
    this.max = max;
    this.#onLeave = onLeave;
  }

  /** The slot of a key, -1 when it is not kept; the key is now the last used. */
  use(key: string): number {
    const slot = this.#slotOf.get(key);
    if (slot === undefined) return -1;
    if (!this.#recency.isLast(slot)) {
      this.#recency.remove(slot);
      this.#recency.add(slot, this.#orderOf(slot));
    }
    return slot;
  }

  /** The slot of a key, -1 when it is not kept. */
  find(key: string): number {
    return this.#slotOf.get(key) ?? -1;
  }

  keyAt(slot: number): string | undefined {
    return this.#keys[slot];
  }

  headSpace(slot: number): number {
    return this.#slots.halves[HALVES * slot + HEAD_SPACE] as number;
  }

  headRow(slot: number): number {
    return this.#slots.halves[HALVES * slot + HEAD_ROW] as number;
  }

  /** How many ledgers the key has. */
  ledgers(slot: number): number {
    return this.#slots.halves[HALVES * slot + LEDGERS] as number;
  }

  /** Where the key's chain of ledgers begins, and how many they are. */
  setChain(slot: number, headSpace: number, headRow: number, ledgers: number): void {
    const { halves } = this.#slots;
    halves[HALVES * slot + HEAD_SPACE] = headSpace;
    halves[HALVES * slot + HEAD_ROW] = headRow;
    halves[HALVES * slot + LEDGERS] = ledgers;
  }

  forgetAt(slot: number): number {
    return this.#slots.floats[FLOATS * slot + FORGET_AT] as number;
  }

  exhaustedUntil(slot: number): number {
    return this.#slots.floats[FLOATS * slot + EXHAUSTED_UNTIL] as number;
  }

  /** A slot for a new key, as the last used; when there is no room another key leaves. */
  add(key: string, now: number): number {
    if (this.size >= this.max) this.#makeRoom(now);
    let slot = this.#free;
    if (slot !== 0) this.#free = this.headRow(slot);
    else {
      if (this.#high === this.#slots.room) this.#grow();
      slot = this.#high;
      this.#high += 1;
    }
    this.#keys[slot] = key;
    this.#slotOf.set(key, slot);
    this.#slots.floats[FLOATS * slot + FORGET_AT] = Number.POSITIVE_INFINITY;
    this.#slots.floats[FLOATS * slot + EXHAUSTED_UNTIL] = 0;
    this.setChain(slot, NO_SPACE, 0, 0);
    this.#due.add(slot);
    this.#recency.add(slot, WITH_BUDGET);
    this.size += 1;
    this.changes += 1;
    return slot;
  }

  /** What a write left of a key: when it may be forgotten, and until when it is exhausted (0: it is not). */
  settle(slot: number, forgetAt: number, exhaustedUntil: number): void {
    const { floats } = this.#slots;
    const at = FLOATS * slot;
    const forgetAtBefore = floats[at + FORGET_AT] as number;
    const exhaustedBefore = floats[at + EXHAUSTED_UNTIL] as number;
    floats[at + FORGET_AT] = forgetAt;
    floats[at + EXHAUSTED_UNTIL] = exhaustedUntil;
    if ((exhaustedBefore === 0) !== (exhaustedUntil === 0)) this.#move(slot);
    const due = dueOf(forgetAt, exhaustedUntil);
    // Where the key is due later than it was, its time in the heap is early enough: the heap is not even looked at.
    if (due < dueOf(forgetAtBefore, exhaustedBefore)) this.#due.lower(slot, due);
  }

  /** The key of a slot was used and nothing was written: when it has budget again by now, it stands there from this use on. */
  usedAt(slot: number, now: number): void {
    const until = this.exhaustedUntil(slot);
    if (until !== 0 && until <= now) this.#hasBudgetAgain(slot);
  }

  /** Looks at up to `most` keys that are due: those whose budget is full leave. */
  sweep(now: number, most: number): void {
    for (let looked = 0; looked < most && this.#due.topDue() <= now; looked += 1) this.#lookAtDue(now);
  }

  /** The key leaves without being counted: it was reset. */
  remove(slot: number): void {
    this.#slotOf.delete(this.#keys[slot] as string);
    this.#keys[slot] = undefined;
    this.#recency.remove(slot);
    this.#due.remove(slot);
    this.setChain(slot, NO_SPACE, this.#free, 0);
    this.#free = slot;
    this.size -= 1;
    this.changes += 1;
  }

  #makeRoom(now: number): void {
    for (let looked = 0; looked < LOOK_BEFORE_EVICTION && this.#due.topDue() <= now; looked += 1) {
      if (this.#lookAtDue(now)) return;
    }
    let slot = this.#recency.oldest(WITH_BUDGET);
    if (slot < 0) slot = this.#recency.oldest(EXHAUSTED);
    const full = this.forgetAt(slot) <= now;
    this.#leave(slot, full ? 'expired' : this.#orderOf(slot) === WITH_BUDGET ? 'with-budget' : 'exhausted', now);
  }

  /** Corrects the key that is due first; true when it left. */
  #lookAtDue(now: number): boolean {
    const slot = this.#due.top();
    const forgetAt = this.forgetAt(slot);
    if (forgetAt <= now) {
      this.#leave(slot, 'expired', now);
      return true;
    }
    const exhaustedUntil = this.exhaustedUntil(slot);
    if (exhaustedUntil !== 0 && exhaustedUntil <= now) this.#hasBudgetAgain(slot);
    this.#due.postponeTop(dueOf(forgetAt, this.exhaustedUntil(slot)));
    return false;
  }

  #hasBudgetAgain(slot: number): void {
    this.#slots.floats[FLOATS * slot + EXHAUSTED_UNTIL] = 0;
    this.#move(slot);
  }

  #leave(slot: number, why: Leaving, now: number): void {
    this.#onLeave(slot, this.#keys[slot] as string, why, now);
    this.remove(slot);
  }

  #orderOf(slot: number): Order {
    return this.exhaustedUntil(slot) === 0 ? WITH_BUDGET : EXHAUSTED;
  }

  /** To the other order of use, as the last used there. */
  #move(slot: number): void {
    this.#recency.remove(slot);
    this.#recency.add(slot, this.#orderOf(slot));
    this.changes += 1;
  }

  #grow(): void {
    const room = Math.min(this.max + FIRST_SLOT, 2 * this.#slots.room);
    this.#slots.grow(room);
    this.#due.grow();
    // Of exactly that length: an array that grows by itself keeps half as much again in reserve.
    const keys: (string | undefined)[] = new Array(room);
    for (let slot = 0; slot < this.#high; slot += 1) keys[slot] = this.#keys[slot];
    this.#keys = keys;
  }
}

/** When a key is to be looked at: it has budget again, or may be forgotten. */
function dueOf(forgetAt: number, exhaustedUntil: number): number {
  return exhaustedUntil === 0 || exhaustedUntil > forgetAt ? forgetAt : exhaustedUntil;
}
