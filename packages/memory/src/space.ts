/**
 * The ledgers of one limit: a row each, in columns of numbers. A window is three numbers, a bucket four; an object each would
 * cost more than twice the bytes, and work for the garbage collector. A log is an object of its own.
 */
import type { BucketState, Change, LedgerState, LogChange, Rule, WindowState } from '@limiter/core';
import { grownFloats } from './due-heap.js';
import { EntryLog } from './entry-log.js';

type Floats = Float64Array<ArrayBuffer>;
type Writable<S> = { -readonly [K in keyof S]: S[K] };

/** No space, in the chain of a key's ledgers. */
export const NO_SPACE = 0xffff;

const FIRST_ROWS = 8;
const NONE: Floats = new Float64Array(0);

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
  /** Freed rows, chained by `#nextRow`, one higher; 0: none. */
  #free = 0;
  // window: start, used, id. bucket: debt, at, charged, id.
  #a: Floats = NONE;
  #b: Floats = NONE;
  #c: Floats = NONE;
  #d: Floats = NONE;
  readonly #logs: (EntryLog | undefined)[] = [];
  #nextSpace: Uint16Array<ArrayBuffer> = new Uint16Array(FIRST_ROWS);
  #nextRow: Uint32Array<ArrayBuffer> = new Uint32Array(FIRST_ROWS);

  constructor(name: string, grid: string, index: number, rule: Rule, maxRows: number) {
    this.name = name;
    this.grid = grid;
    this.index = index;
    this.#kind = rule.algorithm;
    this.#windowMs = rule.algorithm === 'token-bucket' ? 0 : rule.windowMs;
    this.#maxRows = maxRows;
    if (rule.algorithm === 'sliding-window-log') return;
    this.#a = new Float64Array(FIRST_ROWS);
    this.#b = new Float64Array(FIRST_ROWS);
    this.#c = new Float64Array(FIRST_ROWS);
    if (rule.algorithm === 'token-bucket') this.#d = new Float64Array(FIRST_ROWS);
  }

  /** A row for a new ledger, in front of the chain (`nextSpace`, `nextRow`) of its key. */
  add(nextSpace: number, nextRow: number): number {
    let row = this.#free - 1;
    if (row >= 0) this.#free = this.#nextRow[row] as number;
    else {
      if (this.#high === this.#room) this.#grow();
      row = this.#high;
      this.#high += 1;
    }
    this.#nextSpace[row] = nextSpace;
    this.#nextRow[row] = nextRow;
    this.size += 1;
    return row;
  }

  free(row: number): void {
    if (this.#kind === 'sliding-window-log') this.#logs[row] = undefined;
    this.#nextRow[row] = this.#free;
    this.#free = row + 1;
    this.size -= 1;
  }

  nextSpace(row: number): number {
    return this.#nextSpace[row] as number;
  }

  nextRow(row: number): number {
    return this.#nextRow[row] as number;
  }

  relink(row: number, nextSpace: number, nextRow: number): void {
    this.#nextSpace[row] = nextSpace;
    this.#nextRow[row] = nextRow;
  }

  /** What is stored in a row: numbers copied into `scratch`, or the live log. */
  read(row: number, scratch: Scratch): LedgerState {
    if (this.#kind === 'fixed-window') {
      const state = scratch.window;
      state.start = this.#a[row] as number;
      state.used = this.#b[row] as number;
      state.id = this.#c[row] as number;
      return state;
    }
    if (this.#kind === 'token-bucket') {
      const state = scratch.bucket;
      state.debt = this.#a[row] as number;
      state.at = this.#b[row] as number;
      state.charged = this.#c[row] as number;
      state.id = this.#d[row] as number;
      return state;
    }
    return this.#logs[row] as EntryLog;
  }

  write(row: number, change: Change): void {
    if (this.#kind === 'fixed-window') {
      const state = change as WindowState;
      this.#a[row] = state.start;
      this.#b[row] = state.used;
      this.#c[row] = state.id;
    } else if (this.#kind === 'token-bucket') {
      const state = change as BucketState;
      this.#a[row] = state.debt;
      this.#b[row] = state.at;
      this.#c[row] = state.charged;
      this.#d[row] = state.id;
    } else {
      const log = change as LogChange;
      if (log.create !== undefined) this.#logs[row] = new EntryLog(log.create);
      (this.#logs[row] as EntryLog).apply(log, this.#windowMs);
    }
  }

  #grow(): void {
    const room = Math.min(this.#maxRows, 2 * this.#room);
    this.#room = room;
    if (this.#a !== NONE) {
      this.#a = grownFloats(this.#a, room);
      this.#b = grownFloats(this.#b, room);
      this.#c = grownFloats(this.#c, room);
    }
    if (this.#d !== NONE) this.#d = grownFloats(this.#d, room);
    const nextSpace = new Uint16Array(room);
    nextSpace.set(this.#nextSpace);
    this.#nextSpace = nextSpace;
    const nextRow = new Uint32Array(room);
    nextRow.set(this.#nextRow);
    this.#nextRow = nextRow;
  }
}
