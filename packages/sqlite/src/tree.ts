/**
 * The entries of a long log, as a tree that is only ever appended to. An item is a time and a sum; 50 items are a node.
 *
 * ```
 * level 1     [ last time, sum of the leaf | ... ]           told of a leaf when it is full
 * level 0     [ time, kept | time, kept | ... x 50 ]   [ ... ]   [ the tail: in the ledger's row, not full yet ]
 * ```
 *
 * A search for a time or for the n-th unit reads one or two nodes a level, wherever it starts; a refund rewrites one
 * node a level. A running total in every entry would make the search one query, and a refund a rewrite of all later entries.
 */
import type { Statements } from './connection.js';
import { Corrupt } from './faults.js';
import type { Items, Nodes } from './nodes.js';
import { pack, unpack } from './numbers.js';

/** Items of a node: mostly 150 to 200 bytes, so that it has room in a page of 1 kB (230 bytes; what is longer takes a page more). */
export const FAN = 50;
/** Slots of one level; the slot of a node is level * LEVEL + its index. */
const LEVEL = 2 ** 40;

/** Is this the goal, or does the node with this last time and this sum hold it? */
type Stop = (at: number, sum: number) => boolean;

const NONE: Items = [];
const NO_HEAD: readonly number[] = [];

export interface Place {
  /** Index of the entry, counted from the first of the tree. */
  readonly index: number;
  readonly at: number;
  readonly kept: number;
  /** What was passed before it, `before` of the search included. */
  readonly before: number;
}

export class Tree {
  readonly #connection: Statements;
  readonly #nodes: Nodes;
  /** 0: there is none yet, every entry is in the tail. */
  number: number;
  /** Full leaves. */
  leaves: number;
  tail: Items;

  constructor(connection: Statements, nodes: Nodes, number: number, leaves: number, tail: Items) {
    this.#connection = connection;
    this.#nodes = nodes;
    this.number = number;
    this.leaves = leaves;
    this.tail = tail;
  }

  /**
   * Walks from entry `from` to the first at which `stops(time, sum so far)`; whole nodes that do not stop it are passed
   * unread. undefined: the end was reached.
   */
  seek(from: number, before: number, stops: Stop): Place | undefined {
    return this.#walk(0, from, before, stops);
  }

  /** The same from the first entry that the tree ever had: shorter when the goal is far. Nodes that were dropped are not read when nothing in them stops. */
  seekFromTop(before: number, stops: Stop): Place | undefined {
    let level = 0;
    for (let nodes = this.leaves; nodes > 0; nodes = Math.floor(nodes / FAN)) level += 1;
    return this.#walk(level, 0, before, stops);
  }

  #walk(from: number, start: number, before: number, stops: Stop): Place | undefined {
    let level = from;
    let index = start;
    let sum = before;
    for (;;) {
      const items = this.#items(level, Math.floor(index / FAN));
      let i = index % FAN;
      index -= i;
      for (; i * 2 < items.length; i += 1) {
        const at = items[i * 2] as number;
        const kept = items[i * 2 + 1] as number;
        if (stops(at, sum + kept)) {
          if (level === 0) return { index: index + i, at, kept, before: sum };
          break;
        }
        sum += kept;
      }
      const found = i * 2 < items.length;
      index += i;
      if (!found && i === FAN) {
        // Past a full node: its neighbour's sum is one level up.
        level += 1;
        index /= FAN;
      } else if (level > 0) {
        // Into the node that stops the walk, or, past the last full one, into the one that is not full yet.
        level -= 1;
        index *= FAN;
      } else return undefined;
    }
  }

  /** The entry at `index`, which is there. */
  entry(index: number): { readonly at: number; readonly kept: number } {
    const items = this.#items(0, Math.floor(index / FAN));
    const i = (index % FAN) * 2;
    return { at: items[i] as number, kept: items[i + 1] as number };
  }

  /** Adds an entry; a full tail becomes a leaf first. */
  append(at: number, kept: number): void {
    if (this.tail.length === FAN * 2) this.#flush();
    this.tail = withItem(this.tail, at, kept);
  }

  #flush(): void {
    if (this.number === 0) this.number = this.#connection.newTree.get()?.[0] as number;
    let level = 0;
    let index = this.leaves;
    let full = this.tail;
    this.#put(level, index, full);
    do {
      level += 1;
      // As `leaves` does not count the new one yet, the parent reads as it was before it.
      const parent = withItem(this.#items(level, Math.floor(index / FAN)), full.at(-2) as number, sumOf(full));
      index = Math.floor(index / FAN);
      this.#put(level, index, parent);
      full = parent;
    } while (full.length === FAN * 2);
    this.leaves += 1;
    this.tail = NONE;
  }

  /** Takes `amount` off the entry at `index`, which keeps at least that much, and off every sum that holds it. */
  giveBack(index: number, amount: number): void {
    let at = index;
    for (let level = 0; ; level += 1) {
      const node = Math.floor(at / FAN);
      const items = this.#items(level, node);
      const i = (at % FAN) * 2 + 1;
      items[i] = (items[i] as number) - amount;
      if (level === 0 && node === this.leaves) return;
      this.#put(level, node, items);
      if (items.length < FAN * 2) return;
      at = node;
    }
  }

  /** Kept cost of the entries that are in no leaf yet. */
  tailKept(): number {
    return sumOf(this.tail);
  }

  /** Starts again with what is in the tail from its entry `from` on; the caller sees to the nodes. */
  restart(from: number): void {
    this.number = 0;
    this.leaves = 0;
    this.tail = this.tail.slice(from * 2);
  }

  /** Deletes the leaves from <= leaf < to, and what stood above nothing else. */
  drop(from: number, to: number): void {
    let first = from;
    let end = to;
    for (let level = 0; first < end; level += 1) {
      this.#connection.dropNodes.run(this.number, level * LEVEL + first, level * LEVEL + end);
      first = Math.floor(first / FAN);
      end = Math.floor(end / FAN);
    }
  }

  #put(level: number, index: number, items: Items): void {
    const slot = level * LEVEL + index;
    this.#nodes.set(this.number, slot, items);
    this.#connection.putNode.run(this.number, slot, pack(NO_HEAD, items));
  }

  #items(level: number, index: number): Items {
    if (level === 0 && index === this.leaves) return this.tail;
    const full = Math.floor(this.leaves / FAN ** Math.max(0, level - 1));
    const length = level === 0 ? (index < full ? FAN : 0) : Math.min(FAN, full - index * FAN);
    if (length <= 0) return NONE;
    const slot = level * LEVEL + index;
    const known = this.#nodes.get(this.number, slot);
    if (known !== undefined) return known;
    const row = this.#connection.node.get(this.number, slot);
    const items = row === undefined ? NONE : unpack(row[0], 0);
    if (items.length !== length * 2) {
      throw new Corrupt(`node ${slot} of tree ${this.number} must hold ${length} items, it holds ${items.length / 2}`);
    }
    this.#nodes.set(this.number, slot, items);
    return items;
  }
}

function withItem(items: Items, at: number, sum: number): Items {
  const longer = items.slice();
  longer.push(at, sum);
  return longer;
}

/**
 * The sum of a node. More than 2^53-1 is more than ever counts at once: part of it had expired when the node became full,
 * and then no search passes the node unread.
 */
function sumOf(items: Items): number {
  let sum = 0;
  for (let i = 1; i < items.length; i += 2) sum += items[i] as number;
  return Math.min(sum, Number.MAX_SAFE_INTEGER);
}
