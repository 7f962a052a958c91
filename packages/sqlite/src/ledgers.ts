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
import { dropLedger } from './abandon.js';
import type { Statements } from './connection.js';
import type { SqliteValue } from './driver.js';
import { type Entry, Known } from './known.js';
import { HEADER, StoredLog } from './log.js';
import { Nodes } from './nodes.js';
import { stored, unpack } from './numbers.js';

/** So many rows are written by one statement at most. */
const ROWS_A_STATEMENT = 16;
/** The values of such a row: key, id, at, amount, sum, full_at. */
const COLUMNS = 6;

/**
 * The ledgers of one connection, inside transactions. Windows and buckets are read when they are not known (known.ts), and
 * written when the transaction ends, each once and several by a statement; the rows of logs are read and written as they are, of their nodes some are known (nodes.ts).
 */
export class Ledgers {
  readonly #connection: Statements;
  readonly #known = new Known();
  readonly #nodes = new Nodes();
  #unwritten: Entry[] = [];

  constructor(connection: Statements) {
    this.#connection = connection;
  }

  /** First in a transaction. Takes the snapshot. */
  begin(): void {
    if (!this.#known.begin(this.#version())) this.#nodes.forget();
    this.#nodes.age();
  }

  #version(): number | undefined {
    return this.#connection.dataVersion?.get()?.[0] as number | undefined;
  }

  /** Outside a transaction: what the file held when this connection last looked. undefined: not known. */
  known(key: string): Entry | undefined {
    return this.#connection.dataVersion === undefined ? undefined : this.#known.look(key);
  }

  /** Outside a transaction: does what is known hold now? */
  isCurrent(): boolean {
    return this.#known.isOf(this.#version());
  }

  /** Outside a transaction: `change` in place of what is known of `entry`. false: that is not what is stored, and nothing was done. */
  exchange(entry: Entry, rule: Rule, change: Change): boolean {
    const { key, state } = entry;
    if (state === undefined || rule.algorithm === 'sliding-window-log') return false;
    const values: SqliteValue[] = [];
    addState(values, rule, change as Small);
    values.push(fullAgainAt(rule, change as Small), key);
    addState(values, rule, state as Small);
    if (Number(this.#connection.exchange.run(...values).changes) !== 1) return false;
    entry.state = change as Small;
    return true;
  }

  /** What is stored under `key` for a ledger of this rule's kind. @throws Corrupt */
  find(key: string, rule: Rule): Entry {
    if (rule.algorithm === 'sliding-window-log') return { key, state: this.#readLog(key), unwritten: undefined };
    return this.#known.get(key) ?? this.#known.add({ key, state: this.#readSmall(key, rule), unwritten: undefined });
  }

  #readSmall(key: string, rule: Rule): LedgerState | undefined {
    const row = this.#connection.small.get(key);
    if (row === undefined) return undefined;
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
    const id = stored(row[0]);
    const at = stored(row[1]);
    const amount = stored(row[2]);
    const sum = stored(row[3]);
    const tree = stored(row[4]);
    return new StoredLog(this.#connection, this.#nodes, id, at, amount, sum, tree, unpack(row[5], HEADER));
  }

  write(entry: Entry, rule: Rule, change: Change): void {
    if (rule.algorithm === 'sliding-window-log') {
      const { create } = change as LogChange;
      const log =
        create === undefined ? (entry.state as StoredLog) : StoredLog.create(this.#connection, this.#nodes, create);
      log.store(entry.key, change as LogChange, rule.windowMs);
      return;
    }
    entry.state = change as Small;
    if (entry.unwritten === undefined) this.#unwritten.push(entry);
    entry.unwritten = rule;
  }

  drop(key: string): void {
    this.gone(key);
    dropLedger(this.#connection, key);
  }

  /** The row was deleted. */
  gone(key: string): void {
    const entry = this.#known.get(key);
    if (entry === undefined) return;
    entry.state = undefined;
    entry.unwritten = undefined;
  }

  /** Nodes were deleted by the sweep. */
  nodesGone(): void {
    this.#nodes.forget();
  }

  /** Last before COMMIT: everything is in the database. */
  end(): void {
    if (this.#unwritten.length === 0) return;
    let values: SqliteValue[] = [];
    for (const entry of this.#unwritten) {
      addRow(values, entry);
      if (values.length === ROWS_A_STATEMENT * COLUMNS) {
        this.#put(values);
        values = [];
      }
    }
    if (values.length > 0) this.#put(values);
    this.#unwritten = [];
  }

  #put(values: readonly SqliteValue[]): void {
    this.#connection.putSmall(values.length / COLUMNS).run(...values);
  }

  /** The transaction was taken back. */
  forget(): void {
    this.#unwritten = [];
    this.#known.forget();
    this.#nodes.forget();
  }
}

type Small = WindowState | BucketState;
type SmallRule = Exclude<Rule, { algorithm: 'sliding-window-log' }>;

/** Adds id, at, amount, sum. */
function addState(values: SqliteValue[], rule: SmallRule, state: Small): void {
  if (rule.algorithm === 'fixed-window') {
    const { id, start, used } = state as WindowState;
    values.push(id, start, used, 0);
  } else {
    const { id, at, debt, charged } = state as BucketState;
    values.push(id, at, debt, charged);
  }
}

/** Adds the key, the state and full_at, unless the entry was dropped since. */
function addRow(values: SqliteValue[], entry: Entry): void {
  const { key, state, unwritten: rule } = entry;
  entry.unwritten = undefined;
  if (rule === undefined || rule.algorithm === 'sliding-window-log') return;
  values.push(key);
  addState(values, rule, state as Small);
  values.push(fullAgainAt(rule, state as Small));
}
