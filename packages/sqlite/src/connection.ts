/** An open database with its tables and every statement prepared. */
import { type Query, query, type SqliteDatabase, type SqliteStatement } from './driver.js';
import { Ledgers } from './ledgers.js';
import { prepareSchema } from './schema.js';

export interface Statements {
  readonly database: SqliteDatabase;
  /** Is the journal a write-ahead log, in which readers and the writer leave each other alone? */
  readonly writeAhead: boolean;
  /** -> the ms for which the connection waits by itself */
  readonly busyTimeout: Query;
  readonly begin: SqliteStatement;
  readonly beginImmediate: SqliteStatement;
  readonly commit: SqliteStatement;
  readonly rollback: SqliteStatement;
  /** -> a number that stays the same until another connection commits; undefined: others write through this one */
  readonly dataVersion: Query | undefined;
  /** key -> id, at, amount, sum */
  readonly small: Query;
  /** key -> id, at, amount, sum, tree, log */
  readonly log: Query;
  /** key -> full_at */
  readonly fullAt: Query;
  /** key, id, at, amount, sum, full_at, tree, log */
  readonly putLedger: SqliteStatement;
  /** so many windows and buckets, each: key, id, at, amount, sum, full_at */
  putSmall(rows: number): SqliteStatement;
  /** id, at, amount, sum, full_at; key, id, at, amount, sum: in place of a row that holds the latter */
  readonly exchange: SqliteStatement;
  /** key -> tree; the row is gone */
  readonly takeLedger: Query;
  /** -> a number that no tree of this file has had */
  readonly newTree: Query;
  /** tree, slot -> items */
  readonly node: Query;
  /** tree, slot, items */
  readonly putNode: SqliteStatement;
  /** tree, from, to: the slots from <= slot < to */
  readonly dropNodes: SqliteStatement;
  /** tree, tree, how many: that many nodes, lowest slots first */
  readonly dropSomeNodes: SqliteStatement;
  /** -> the key up to which the sweep has come */
  readonly swept: Query;
  readonly putSwept: SqliteStatement;
  /** key, how many: the key that lies so many rows after the next one, if there is one */
  readonly keyAfter: Query;
  /** key, key, now: a row after the first key, and up to the second one, that has expired */
  readonly anyExpired: Query;
  /** key, how many, now: of so many rows after the key, key and tree of those that have expired */
  readonly expired: Query;
}

export interface Connection extends Statements {
  readonly ledgers: Ledgers;
}

const SMALL = '(?, ?, ?, ?, ?, ?, 0, NULL)';
const NODES = 'limiter_node WHERE tree = ?';
const NEXT = '(SELECT key, full_at, tree FROM limiter_ledger WHERE key > ? ORDER BY key LIMIT ?)';

/**
 * Makes the tables where they are missing.
 *
 * @param alone nobody else writes through this database object
 * @throws whatever the driver says; LimiterError ERR_LIMITER_SCHEMA
 */
export function connect(database: SqliteDatabase, alone: boolean): Connection {
  prepareSchema(database);
  const putSmall: SqliteStatement[] = [];
  const statements: Statements = {
    database,
    writeAhead: query(database, 'PRAGMA journal_mode').get()?.[0] === 'wal',
    busyTimeout: query(database, 'PRAGMA busy_timeout'),
    begin: database.prepare('BEGIN'),
    beginImmediate: database.prepare('BEGIN IMMEDIATE'),
    commit: database.prepare('COMMIT'),
    rollback: database.prepare('ROLLBACK'),
    dataVersion: alone ? query(database, 'PRAGMA data_version') : undefined,
    small: query(database, 'SELECT id, at, amount, sum FROM limiter_ledger WHERE key = ?'),
    log: query(database, 'SELECT id, at, amount, sum, tree, log FROM limiter_ledger WHERE key = ?'),
    fullAt: query(database, 'SELECT full_at FROM limiter_ledger WHERE key = ?'),
    putLedger: database.prepare('REPLACE INTO limiter_ledger VALUES (?, ?, ?, ?, ?, ?, ?, ?)'),
    putSmall(rows) {
      putSmall[rows] ??= database.prepare(`REPLACE INTO limiter_ledger VALUES ${Array(rows).fill(SMALL).join()}`);
      return putSmall[rows];
    },
    exchange: database.prepare(
      `UPDATE limiter_ledger SET id = ?, at = ?, amount = ?, sum = ?, full_at = ?
       WHERE key = ? AND id = ? AND at = ? AND amount = ? AND sum = ?`,
    ),
    takeLedger: query(database, 'DELETE FROM limiter_ledger WHERE key = ? RETURNING tree'),
    newTree: query(database, "UPDATE limiter_meta SET value = value + 1 WHERE name = 'trees' RETURNING value"),
    node: query(database, `SELECT items FROM ${NODES} AND slot = ?`),
    putNode: database.prepare('REPLACE INTO limiter_node VALUES (?, ?, ?)'),
    dropNodes: database.prepare(`DELETE FROM ${NODES} AND slot >= ? AND slot < ?`),
    dropSomeNodes: database.prepare(
      `DELETE FROM ${NODES} AND slot <= (SELECT max(slot) FROM (SELECT slot FROM ${NODES} ORDER BY slot LIMIT ?))`,
    ),
    swept: query(database, "SELECT value FROM limiter_meta WHERE name = 'swept'"),
    putSwept: database.prepare("UPDATE limiter_meta SET value = ? WHERE name = 'swept'"),
    keyAfter: query(database, 'SELECT key FROM limiter_ledger WHERE key > ? ORDER BY key LIMIT 1 OFFSET ?'),
    anyExpired: query(database, 'SELECT 1 FROM limiter_ledger WHERE key > ? AND key <= ? AND full_at <= ? LIMIT 1'),
    expired: query(database, `SELECT key, tree FROM ${NEXT} WHERE full_at <= ? ORDER BY key`),
  };
  return { ...statements, ledgers: new Ledgers(statements) };
}

/** Rolls back, also where SQLite has done so by itself: a full disk or a failed write may end the transaction. */
export function takeBack(connection: Connection): void {
  connection.ledgers.forget();
  try {
    connection.rollback.run();
  } catch {}
}
