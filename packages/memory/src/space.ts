/**
 * The ledgers of one limit: a row of numbers each, side by side in one array. A window is three numbers, a bucket four, and
 * the last says where the next ledger of the key lies; an object each would cost more than twice the bytes, and work for the
 * garbage collector. A log is an object of its own.
 */
import type { BucketState, Change, LedgerState, LogChange, Rule, WindowState } from '@limiter/core';
import { EntryLog } from './entry-log.js';
import { grownFloats } from './slots.js';

type Writable<S> = { -readonly [K in keyof S]: S[K] };

/** No space, in the chain of a key's ledgers. */
export const NO_SPACE = 0xffff;

const FIRST_ROWS = 8;
/** The numbers of a row, the link among them. */
const WIDTHS: Readonly<Record<Rule['algorithm'], number>> = {
  'fixed-window': 4,
  'token-bucket': 5,
  'sliding-window-log': 1,
};

/** States that `read` fills in again and again: nothing may keep one beyond the step. */
export interface Scratch {
  readonly window: Writable<WindowState>;
  readonly bucket: Writable<BucketState>;
}

export function newScratch(): Scratch {
  return { window: { start: 0, used: 0, id: 0 }, bucket: { debt: 0, at: 0, charged: 0, id: 0 } };
}

export class Space {
  readonly name: string;
  readonly grid: string;
  /** Its number in the store, 0 .. NO_SPACE-1; NO_SPACE once another space has taken it. */
  index: number;
  readonly #kind: Rule['algorithm'];
  readonly #windowMs: number;
  readonly #maxRows: number;
  /** Rows in use. */
  size = 0;
  #room = FIRST_ROWS;
  /** Rows that were ever in use: those above are fresh. */
  #high = 0;
  /** Freed rows, chained by their links, one higher; 0: none. */
  #free = 0;
  readonly #width: number;
  /** A row: start, used, id of a window; debt, at, charged, id of a bucket; then the link. */
  #rows: Float64Array<ArrayBuffer>;
  /** The same bytes, for the links: the next row, and the space that it lies in. */
  #halves: Uint32Array<ArrayBuffer>;
  readonly #logs: (EntryLog | undefined)[] = [];

  constructor(name: string, grid: string, index: number, rule: Rule, maxRows: number) {
    this.name = name;
    this.grid = grid;
    this.index = index;
    this.#kind = rule.algorithm;
    this.#windowMs = rule.algorithm === 'token-bucket' ? 0 : rule.windowMs;
    this.#maxRows = maxRows;
    this.#width = WIDTHS[rule.algorithm];
    this.#rows = new Float64Array(this.#width * FIRST_ROWS);
    this.#halves = new Uint32Array(this.#rows.buffer);
  }

  /** A row for a new ledger, in front of the chain (`nextSpace`, `nextRow`) of its key. */
  add(nextSpace: number, nextRow: number): number {
    let row = this.#free - 1;
    if (row >= 0) this.#free = this.nextRow(row);
    else {
      if (this.#high === this.#room) this.#grow();
      row = this.#high;
      this.#high += 1;
    }
    this.relink(row, nextSpace, nextRow);
    this.size += 1;
    return row;
  }

  free(row: number): void {
    if (this.#kind === 'sliding-window-log') this.#logs[row] = undefined;
    this.relink(row, NO_SPACE, this.#free);
    this.#free = row + 1;
    this.size -= 1;
  }

  nextSpace(row: number): number {
    return this.#halves[this.#link(row) + 1] as number;
  }

  nextRow(row: number): number {
    return this.#halves[this.#link(row)] as number;
  }

  relink(row: number, nextSpace: number, nextRow: number): void {
    const link = this.#link(row);
    this.#halves[link] = nextRow;
    this.#halves[link + 1] = nextSpace;
  }

  /** What is stored in a row: numbers copied into `scratch`, or the live log. */
  read(row: number, scratch: Scratch): LedgerState {
    const rows = this.#rows;
    const at = this.#width * row;
    if (this.#kind === 'fixed-window') {
      const state = scratch.window;
      state.start = rows[at] as number;
      state.used = rows[at + 1] as number;
      state.id = rows[at + 2] as number;
      return state;
    }
    if (this.#kind === 'token-bucket') {
      const state = scratch.bucket;
      state.debt = rows[at] as number;
      state.at = rows[at + 1] as number;
      state.charged = rows[at + 2] as number;
      state.id = rows[at + 3] as number;
      return state;
    }
    return this.#logs[row] as EntryLog;
  }

  /** Stores what a step left of a ledger. `before`: what it was, where a log's key left and came back within the step. */
  write(row: number, change: Change, before?: LedgerState): void {
    const rows = this.#rows;
    const at = this.#width * row;
    if (this.#kind === 'fixed-window') {
      const state = change as WindowState;
      rows[at] = state.start;
      rows[at + 1] = state.used;
      rows[at + 2] = state.id;
    } else if (this.#kind === 'token-bucket') {
      const state = change as BucketState;
      rows[at] = state.debt;
      rows[at + 1] = state.at;
      rows[at + 2] = state.charged;
      rows[at + 3] = state.id;
    } else {
      const log = change as LogChange;
      if (log.create !== undefined) this.#logs[row] = new EntryLog(log.create);
      else this.#logs[row] ??= before as EntryLog;
      (this.#logs[row] as EntryLog).apply(log, this.#windowMs);
    }
  }

  #link(row: number): number {
    return 2 * (this.#width * row + this.#width - 1);
  }

  #grow(): void {
    const room = Math.min(this.#maxRows, 2 * this.#room);
    this.#room = room;
    this.#rows = grownFloats(this.#rows, this.#width * room);
    this.#halves = new Uint32Array(this.#rows.buffer);
  }
}
