/** Rows to states and back. What a row means is in schema.ts; the algorithms are core's. */
import {
  type BucketState,
  type Change,
  fullAgainAt,
  type LedgerState,
  type LogChange,
  type Rule,
  type WindowState,
} from '@limiter/core';
import type { Statements } from './connection.js';
import type { SqliteValue } from './driver.js';
import { dropLedger } from './housekeeping.js';
import { Known, type Small } from './known.js';
import { HEADER, StoredLog } from './log.js';
import { stored, unpack } from './numbers.js';

/** So many rows are written by one statement at most. */
const ROWS_A_STATEMENT = 16;

/** key, id, at, amount, sum, full_at */
type SmallRow = [key: string, id: number, at: number, amount: number, sum: number, fullAt: number];

/**
 * The ledgers of one connection, inside transactions. Windows and buckets are written when the transaction ends, each once
 * and several by a statement, and read when they are not known (known.ts); logs are read and written as they are.
 */
export class Ledgers {
  readonly #connection: Statements;
  readonly #known = new Known();
  readonly #unwritten = new Map<string, SmallRow>();

  constructor(connection: Statements) {
    this.#connection = connection;
  }

  /** First in a transaction. Takes the snapshot. */
  begin(): void {
    const { dataVersion } = this.#connection;
    this.#known.begin(dataVersion === undefined ? undefined : (dataVersion.get()?.[0] as number));
  }

  /** What is stored under `key` for a ledger of this rule's kind. @throws Corrupt */
  read(key: string, rule: Rule): LedgerState | undefined {
    if (rule.algorithm === 'sliding-window-log') return this.#readLog(key);
    const known = this.#known.get(key);
    if (known !== undefined) return known ?? undefined;
    if (this.#unwritten.has(key)) this.end();
    const state = this.#readSmall(key, rule);
    this.#known.set(key, state);
    return state ?? undefined;
  }

  #readSmall(key: string, rule: Rule): Small {
    const row = this.#connection.small.get(key);
    if (row === undefined) return null;
    const id = stored(row[0]);
    // A window on a clock grid may start before 1970.
    const at = stored(row[1], Number.MIN_SAFE_INTEGER);
    const amount = stored(row[2]);
    const sum = stored(row[3]);
    return rule.algorithm === 'fixed-window' ? { start: at, used: amount, id } : { debt: amount, at, charged: sum, id };
  }

  #readLog(key: string): StoredLog | undefined {
    const row = this.#connection.log.get(key);
    if (row === undefined) return undefined;
    const [id, at, amount, sum, tree] = [
      stored(row[0]),
      stored(row[1]),
      stored(row[2]),
      stored(row[3]),
      stored(row[4]),
    ];
    return new StoredLog(this.#connection, id, at, amount, sum, tree, unpack(row[5], HEADER));
  }

  write(key: string, rule: Rule, state: LedgerState | undefined, change: Change): void {
    switch (rule.algorithm) {
      case 'fixed-window': {
        const window = change as WindowState;
        this.#set([key, window.id, window.start, window.used, 0, fullAgainAt(rule, window)], window);
        return;
      }
      case 'token-bucket': {
        const bucket = change as BucketState;
        this.#set([key, bucket.id, bucket.at, bucket.debt, bucket.charged, fullAgainAt(rule, bucket)], bucket);
        return;
      }
      case 'sliding-window-log': {
        const { create } = change as LogChange;
        const log = create === undefined ? (state as StoredLog) : StoredLog.create(this.#connection, create);
        log.store(key, change as LogChange, rule.windowMs);
      }
    }
  }

  #set(row: SmallRow, state: WindowState | BucketState): void {
    this.#unwritten.set(row[0], row);
    this.#known.set(row[0], state);
  }

  drop(key: string): void {
    this.#unwritten.delete(key);
    this.gone(key);
    dropLedger(this.#connection, key);
  }

  /** The row was deleted. */
  gone(key: string): void {
    this.#known.set(key, null);
  }

  /** Last before COMMIT: everything is in the database. */
  end(): void {
    if (this.#unwritten.size === 0) return;
    let values: SqliteValue[] = [];
    let rows = 0;
    for (const row of this.#unwritten.values()) {
      values.push(...row);
      rows += 1;
      if (rows < ROWS_A_STATEMENT) continue;
      this.#connection.putSmall(rows).run(...values);
      values = [];
      rows = 0;
    }
    if (rows > 0) this.#connection.putSmall(rows).run(...values);
    this.#unwritten.clear();
  }

  /** The transaction was taken back. */
  forget(): void {
    this.#unwritten.clear();
    this.#known.forget();
  }
}
