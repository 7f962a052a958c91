/**
 * A sliding window log as one row, and a tree of nodes when it is long.
 *
 * The row knows the first entry that counted at the last charge and the sum from there on, so that most questions need
 * no other row. Times in rows are as they were written; `shift` is how much earlier they all count since the clock was
 * set back.
 */
import type { LogChange, LogState } from '@limiter/core';
import { abandonTree } from './abandon.js';
import type { Statements } from './connection.js';
import { Corrupt } from './faults.js';
import type { Nodes } from './nodes.js';
import { pack } from './numbers.js';
import { FAN, type Place, Tree } from './tree.js';

/** Leaves that one charge deletes at most. 50 charges make a leaf, so what has expired leaves faster than it comes. */
const LEAVES_A_CHARGE = 8;

/** The fixed part of the BLOB; the tail follows. */
type Header = [
  shift: number,
  base: number,
  head: number,
  first: number,
  firstAt: number,
  firstKept: number,
  passed: number,
];
/** How many numbers that is. */
export const HEADER = 7;
const EMPTY: readonly number[] = new Array(HEADER).fill(0);

export class StoredLog implements LogState {
  readonly id: number;
  newestAt: number;
  nextPosition: number;
  readonly #connection: Statements;
  readonly #tree: Tree;
  #shift: number;
  /** Position of the tree's entry 0. */
  #base: number;
  /** Leaves before this one are deleted. */
  #head: number;
  /** Position, time and kept cost of the first entry that counted at the last charge. */
  #first: number;
  #firstAt: number;
  #firstKept: number;
  /** Kept cost of the tree's entries before `first`, at most 2^53-1. */
  #passed: number;
  /** Kept cost from `first` on. */
  #kept: number;
  #boundary: { readonly after: number; readonly place: Place } | undefined;

  /** A row as it is read: `list` is the unpacked BLOB. An empty log: zeros. */
  constructor(
    connection: Statements,
    nodes: Nodes,
    id: number,
    at: number,
    amount: number,
    sum: number,
    tree: number,
    list: readonly number[],
  ) {
    const tail = list.slice(HEADER);
    const leaves = (sum - tail.length / 2 - (list[1] as number)) / FAN;
    this.#shift = list[0] as number;
    this.#base = list[1] as number;
    this.#head = list[2] as number;
    this.#first = list[3] as number;
    this.#firstAt = list[4] as number;
    this.#firstKept = list[5] as number;
    this.#passed = list[6] as number;
    if (!Number.isInteger(leaves) || leaves < 0 || leaves > 0 !== tree > 0 || this.#first < this.#base) {
      throw new Corrupt('the parts of a stored log do not fit each other');
    }
    this.#connection = connection;
    this.#tree = new Tree(connection, nodes, tree, leaves, tail);
    this.id = id;
    this.newestAt = at;
    this.nextPosition = sum;
    this.#kept = amount;
  }

  static create(connection: Statements, nodes: Nodes, id: number): StoredLog {
    return new StoredLog(connection, nodes, id, 0, 0, 0, 0, EMPTY);
  }

  usedAfter(after: number): number {
    return this.#kept - this.#firstAfter(after).before;
  }

  timeOfUnit(amount: number, after: number): number {
    const start = this.#firstAfter(after);
    if (amount <= start.kept) return start.at - this.#shift;
    const target = start.before + amount;
    const place = this.#find(start, target);
    if (place === undefined)
      throw new Corrupt(`a stored log holds ${this.#kept}, of which unit ${target} is not found`);
    return place.at - this.#shift;
  }

  /** The entry with which the sum from `first` on reaches `target`. */
  #find(start: Place, target: number): Place | undefined {
    const reached = (_at: number, sum: number): boolean => sum >= target;
    const tail = this.#tree.leaves * FAN;
    if (start.index < tail) {
      // Often it is one of the newest entries, which are at hand, or one of the oldest.
      const beforeTail = this.#kept - this.#tree.tailKept();
      if (target > beforeTail) return this.#tree.seek(tail, beforeTail, reached);
      // Else from the top, unless what has expired is so much that sums there are no longer exact.
      const exact = this.#passed <= Number.MAX_SAFE_INTEGER - this.#kept;
      if (exact && target - start.before > FAN) return this.#tree.seekFromTop(-this.#passed, reached);
    }
    return this.#tree.seek(start.index, start.before, reached);
  }

  entry(position: number): { readonly at: number; readonly kept: number } | undefined {
    if (position < this.#first || position >= this.nextPosition) return undefined;
    const { at, kept } = this.#tree.entry(position - this.#base);
    return { at: at - this.#shift, kept };
  }

  /** The first entry with time > `after`; past the last one when there is none. */
  #firstAfter(after: number): Place {
    const storedAfter = after + this.#shift;
    if (this.#boundary?.after === storedAfter) return this.#boundary.place;
    const index = this.#first - this.#base;
    const end: Place = { index: this.nextPosition - this.#base, at: 0, kept: 0, before: this.#kept };
    const place =
      index === end.index || this.newestAt <= after
        ? end
        : this.#firstAt > storedAfter
          ? { index, at: this.#firstAt, kept: this.#firstKept, before: 0 }
          : (this.#tree.seek(index, 0, (at) => at > storedAfter) ?? end);
    this.#boundary = { after: storedAfter, place };
    return place;
  }

  /** Carries out what the algorithm decided and stores it under `key`. */
  store(key: string, change: LogChange, windowMs: number): void {
    this.newestAt -= change.shiftMs;
    this.#shift += change.shiftMs;
    if (change.append !== undefined) this.#append(change.append.at, change.append.cost, windowMs);
    if (change.giveBack !== undefined) this.#giveBack(change.giveBack.position, change.giveBack.amount);
    const { tail, number } = this.#tree;
    const header: Header = [
      this.#shift,
      this.#base,
      this.#head,
      this.#first,
      this.#firstAt,
      this.#firstKept,
      this.#passed,
    ];
    const fullAt = this.newestAt + windowMs;
    this.#connection.putLedger.run(
      key,
      this.id,
      this.newestAt,
      this.#kept,
      this.nextPosition,
      fullAt,
      number,
      pack(header, tail),
    );
  }

  #append(at: number, cost: number, windowMs: number): void {
    const start = this.#firstAfter(at - windowMs);
    if (start.index === this.nextPosition - this.#base) {
      this.#shift = 0;
      this.#first = this.nextPosition;
      this.#firstAt = at;
      this.#firstKept = cost;
      this.#kept = cost;
    } else {
      this.#first = this.#base + start.index;
      this.#firstAt = start.at;
      this.#firstKept = start.kept;
      this.#kept += cost - start.before;
      this.#passed = Math.min(Number.MAX_SAFE_INTEGER, this.#passed + start.before);
    }
    this.#forget();
    this.#tree.append(at + this.#shift, cost);
    this.nextPosition += 1;
    this.newestAt = at;
    this.#boundary = undefined;
  }

  /** Entries before `first` never count again. When no leaf holds one that does, the log is short again; else a few leaves go. */
  #forget(): void {
    const expired = this.#first - this.#base;
    const tail = this.#tree.leaves * FAN;
    if (expired >= tail) {
      abandonTree(this.#connection, this.#tree.number);
      this.#tree.restart(expired - tail);
      this.#base = this.#first;
      this.#head = 0;
      this.#passed = 0;
    } else {
      const to = Math.min(Math.floor(expired / FAN), this.#head + LEAVES_A_CHARGE);
      this.#tree.drop(this.#head, to);
      this.#head = to;
    }
  }

  #giveBack(position: number, amount: number): void {
    this.#kept -= amount;
    if (position === this.#first) this.#firstKept -= amount;
    this.#tree.giveBack(position - this.#base, amount);
  }
}
