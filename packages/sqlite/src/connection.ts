/** An open database with its tables and every statement prepared. */
import { type Query, query, type SqliteDatabase, type SqliteStatement } from './driver.js';
import { prepareSchema } from './schema.js';

export interface Connection {
  readonly database: SqliteDatabase;
  /** Is the journal a write-ahead log, in which readers and the writer leave each other alone? */
  readonly writeAhead: boolean;
  /** -> the ms for which the connection waits by itself */
  readonly busyTimeout: Query;
  readonly begin: SqliteStatement;
  readonly beginImmediate: SqliteStatement;
  readonly commit: SqliteStatement;
  readonly rollback: SqliteStatement;
  /** key -> id, at, amount, sum, tree, log */
  readonly ledger: Query;
  /** key -> full_at */
  readonly fullAt: Query;
  /** key, id, at, amount, sum, full_at, tree, log */
  readonly putLedger: SqliteStatement;
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
  /** now, key, how many: of so many rows after the key, the last key, how many there are, how many have expired */
  readonly glance: Query;
  /** key, how many, now: of so many rows after the key, key and tree of those that have expired */
  readonly expired: Query;
}

const NODES = 'limiter_node WHERE tree = ?';
const NEXT = '(SELECT key, full_at, tree FROM limiter_ledger WHERE key > ? ORDER BY key LIMIT ?)';

/** Makes the tables where they are missing. @throws whatever the driver says; LimiterError ERR_LIMITER_SCHEMA */
export function connect(database: SqliteDatabase): Connection {
  prepareSchema(database);
  return {
    database,
    writeAhead: query(database, 'PRAGMA journal_mode').get()?.[0] === 'wal',
    busyTimeout: query(database, 'PRAGMA busy_timeout'),
    begin: database.prepare('BEGIN'),
    beginImmediate: database.prepare('BEGIN IMMEDIATE'),
    commit: database.prepare('COMMIT'),
    rollback: database.prepare('ROLLBACK'),
    ledger: query(database, 'SELECT id, at, amount, sum, tree, log FROM limiter_ledger WHERE key = ?'),
    fullAt: query(database, 'SELECT full_at FROM limiter_ledger WHERE key = ?'),
    putLedger: database.prepare('REPLACE INTO limiter_ledger VALUES (?, ?, ?, ?, ?, ?, ?, ?)'),
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
    glance: query(database, `SELECT max(key), count(*), total(full_at <= ?) FROM ${NEXT}`),
    expired: query(database, `SELECT key, tree FROM ${NEXT} WHERE full_at <= ? ORDER BY key`),
  };
}

/** Rolls back, also where SQLite has done so by itself: a full disk or a failed write may end the transaction. */
export function takeBack(connection: Connection): void {
  try {
    connection.rollback.run();
  } catch {}
}
