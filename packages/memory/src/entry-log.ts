/**
 * The log of a sliding window in memory: a ring of (time, cost spent so far), so that what counts after a moment is a
 * difference of two sums and the time of a unit a binary search, whatever the number of entries.
 *
 * ```
 * time   1000  1004  1009        usedAfter(1000) = 7 - 2
 * cost      2     4     1        timeOfUnit(5, 1000) = 1009: the 4 units of 1004 are not enough
 * spent     2     6     7        refunds are kept apart (refund-index.ts), so a refund rewrites no sum
 * ```
 *
 * Entries that no longer count leave two at a time when one is added, all at once when none counts. Nothing that was dropped
 * can count again: the log is judged at its newest entry or later, also after a move.
 */
import type { LogChange, LogState } from '@limiter/core';
import { RefundIndex } from './refund-index.js';

const MAX = Number.MAX_SAFE_INTEGER;
const FIRST_ROOM = 1;
/** Up to this room a plain array: an empty typed array alone takes 240 bytes, and most logs are short. */
const PLAIN_ROOM = 16;

type Cells = number[] | Float64Array<ArrayBuffer>;

export class EntryLog implements LogState {
  readonly id: number;
  /** Slot i: `[2i]` its time plus `#shift`, `[2i + 1]` the cost spent up to and including it. The room is a power of two. */
  #cells: Cells = newCells(FIRST_ROOM);
  #head = 0;
  #count = 0;
  /** The position of the entry at `#head`. */
  #first = 0;
  /** What was spent before the entry at `#head`. */
  #spentBefore = 0;
  /** Every entry is this much earlier than its cell says. */
  #shift = 0;
  #refunds: RefundIndex | undefined;

  constructor(id: number) {
    this.id = id;
  }

  get newestAt(): number {
    return this.#count === 0 ? Number.NEGATIVE_INFINITY : this.#time(this.#count - 1);
  }

  get nextPosition(): number {
    return this.#first + this.#count;
  }

  usedAfter(after: number): number {
    const index = this.#firstAfter(after);
    if (index === this.#count) return 0;
    const spent = this.#spent(this.#count - 1) - (index === 0 ? this.#spentBefore : this.#spent(index - 1));
    return this.#refunds === undefined ? spent : spent - (this.#refunds.total - this.#refundedBefore(index));
  }

  timeOfUnit(amount: number, after: number): number {
    const index = this.#firstAfter(after);
    const before = index === 0 ? this.#spentBefore : this.#spent(index - 1);
    return this.#refunds === undefined
      ? this.#time(this.#search(index, before + amount))
      : this.#timeOfKept(this.#refunds, index, before + amount);
  }

  entry(position: number): { readonly at: number; readonly kept: number } | undefined {
    const index = position - this.#first;
    if (!Number.isInteger(index) || index < 0 || index >= this.#count) return undefined;
    return { at: this.#time(index), kept: this.#kept(index) };
  }

  /** Shifts all entries, appends one, gives back to one: in this order, each where the change says so. */
  apply(change: LogChange, windowMs: number): void {
    if (change.shiftMs > 0) this.#shift += change.shiftMs;
    if (change.append !== undefined) this.#append(change.append.at, change.append.cost, windowMs);
    if (change.giveBack !== undefined) this.#giveBack(change.giveBack.position, change.giveBack.amount);
  }

  #append(at: number, cost: number, windowMs: number): void {
    this.#dropExpired(at - windowMs);
    const spent = this.#count === 0 ? this.#spentBefore : this.#spent(this.#count - 1);
    // Cost that was refunded or has left stays in the sums until they would pass 2^53-1: then they start again.
    if (cost > MAX - spent || this.#shift > MAX - at) {
      this.#rewrite(at - windowMs);
      this.#append(at, cost, windowMs);
      return;
    }
    if (2 * this.#count === this.#cells.length) this.#resize(this.#cells.length);
    const cell = 2 * this.#slot(this.#count);
    this.#cells[cell] = at + this.#shift;
    this.#cells[cell + 1] = spent + cost;
    this.#count += 1;
  }

  #giveBack(position: number, amount: number): void {
    this.#refunds ??= new RefundIndex(this.#cells.length / 2);
    this.#refunds.add(this.#slot(position - this.#first), amount);
  }

  #dropExpired(upTo: number): void {
    if (this.#count > 0 && this.#time(this.#count - 1) <= upTo) {
      this.#clear();
      return;
    }
    for (let dropped = 0; dropped < 2 && this.#count > 0 && this.#time(0) <= upTo; dropped += 1) {
      const refunded = this.#refunds?.of(this.#head) ?? 0;
      if (refunded > 0) this.#refunds?.add(this.#head, -refunded);
      this.#spentBefore = this.#spent(0);
      this.#head = this.#slot(1);
      this.#first += 1;
      this.#count -= 1;
    }
    const room = this.#cells.length / 2;
    if (room > 8 && this.#count < room / 4) this.#resize(room / 2);
  }

  /** Nothing counts any more: an empty log of the same identity, whose positions go on. */
  #clear(): void {
    this.#first += this.#count;
    this.#count = 0;
    this.#head = 0;
    this.#spentBefore = 0;
    this.#shift = 0;
    this.#refunds = undefined;
    if (this.#cells.length > 2 * FIRST_ROOM) this.#cells = newCells(FIRST_ROOM);
  }

  /** The same entries in a ring of `room` slots. */
  #resize(room: number): void {
    const old = this.#cells;
    const refunds = this.#refunds;
    const cells = newCells(room);
    const grown = refunds === undefined ? undefined : new RefundIndex(room);
    for (let cell = 0, from = 2 * this.#head; cell < 2 * this.#count; cell += 1) {
      cells[cell] = old[from] as number;
      from = from + 1 === old.length ? 0 : from + 1;
    }
    if (refunds !== undefined) {
      for (let index = 0; index < this.#count; index += 1) {
        const refunded = refunds.of(this.#slot(index));
        if (refunded > 0) grown?.add(index, refunded);
      }
    }
    this.#cells = cells;
    this.#head = 0;
    this.#refunds = grown;
  }

  /** Drops all that no longer counts and begins the sums and the shift again: what counts, and one more charge, fits in 2^53-1. */
  #rewrite(upTo: number): void {
    const from = this.#firstAfter(upTo);
    const live = this.#count - from;
    const cells = newCells(this.#cells.length / 2);
    let spent = 0;
    for (let index = 0; index < live; index += 1) {
      spent += this.#kept(from + index);
      cells[2 * index] = this.#time(from + index);
      cells[2 * index + 1] = spent;
    }
    this.#cells = cells;
    this.#head = 0;
    this.#first += from;
    this.#count = live;
    this.#spentBefore = 0;
    this.#shift = 0;
    this.#refunds = undefined;
  }

  #slot(index: number): number {
    return (this.#head + index) & (this.#cells.length / 2 - 1);
  }

  #time(index: number): number {
    return (this.#cells[2 * this.#slot(index)] as number) - this.#shift;
  }

  #spent(index: number): number {
    return this.#cells[2 * this.#slot(index) + 1] as number;
  }

  #kept(index: number): number {
    const cost = this.#spent(index) - (index === 0 ? this.#spentBefore : this.#spent(index - 1));
    return this.#refunds === undefined ? cost : cost - this.#refunds.of(this.#slot(index));
  }

  /** The first entry later than `after`, or the count; in steps that double, because what expired is mostly gone. */
  #firstAfter(after: number): number {
    const count = this.#count;
    if (count === 0 || this.#time(count - 1) <= after) return count;
    if (this.#time(0) > after) return 0;
    let low = 1;
    let high = 2;
    while (high <= count && this.#time(high - 1) <= after) {
      low = high;
      high *= 2;
    }
    return this.#firstAbove(0, after + this.#shift, low, Math.min(high - 1, count - 1));
  }

  /** The first entry from `from` on up to and including which `target` was spent. */
  #search(from: number, target: number): number {
    const last = this.#count - 1;
    if (this.#spent(from) >= target) return from;
    if (last > 0 && this.#spent(last - 1) < target) return last;
    return this.#firstAbove(1, target - 1, from + 1, last - 1);
  }

  /** The first index in `low` .. `high` whose number (`field` 0: raw time, 1: spent) is above `limit`; that of `high` is. */
  #firstAbove(field: 0 | 1, limit: number, low: number, high: number): number {
    const cells = this.#cells;
    const head = this.#head;
    const mask = cells.length / 2 - 1;
    let from = low;
    let to = high;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((cells[2 * ((head + middle) & mask) + field] as number) > limit) to = middle;
      else from = middle + 1;
    }
    return from;
  }

  /** What was refunded of the entries before `index`. The ring's slots from `#head` on come first, then those before it. */
  #refundedBefore(index: number): number {
    const refunds = this.#refunds;
    if (refunds === undefined || index === 0) return 0;
    const end = this.#head + index;
    const room = this.#cells.length / 2;
    const beforeHead = refunds.before(this.#head);
    return end <= room ? refunds.before(end) - beforeHead : refunds.total - beforeHead + refunds.before(end - room);
  }

  /** As `#search`, less refunds: of `target`, what was spent before `from` is part. */
  #timeOfKept(refunds: RefundIndex, from: number, target: number): number {
    const room = this.#cells.length / 2;
    const start = this.#head + from;
    const end = this.#head + this.#count;
    const cells = this.#cells;
    if (start >= room) {
      const base = refunds.before(start - room);
      const slot = refunds.search(cells, start - room, end - room, target - base);
      return (cells[2 * slot] as number) - this.#shift;
    }
    const base = refunds.before(start);
    const straight = Math.min(end, room);
    let slot = refunds.search(cells, start, straight, target - base);
    // Around the corner: what was refunded from `start` to the end of the ring has been passed by then.
    if (slot === straight) slot = refunds.search(cells, 0, end - room, target + (refunds.total - base));
    return (cells[2 * slot] as number) - this.#shift;
  }
}

function newCells(room: number): Cells {
  if (room > PLAIN_ROOM) return new Float64Array(2 * room);
  const cells: number[] = room === FIRST_ROOM ? [0, 0] : new Array(2 * room);
  // A fraction makes it an array of plain doubles from the start.
  return cells.fill(0.5);
}
