/**
 * The tables. `limiter_ledger` has a row a ledger; the entries of a long log are in `limiter_node` (see log.ts).
 *
 * ```
 * algorithm            id        at                  amount               sum
 * fixed window         identity  start               used                 0
 * token bucket         identity  last charge         debt                 charged so far
 * sliding window log   identity  newest entry        kept, from `first`   next position        + tree, log
 * ```
 *
 * `full_at`: from then on the row may be forgotten. Rows whose key holds `!` are not ledgers: used receipts, and abandoned trees.
 */
import { LimiterError } from '@limiter/core';
import { query, type SqliteDatabase } from './driver.js';

/** The version of the tables that this code reads and writes. */
export const SCHEMA_VERSION = 2;

const TABLES = `
  CREATE TABLE IF NOT EXISTS limiter_meta (name TEXT PRIMARY KEY, value ANY) WITHOUT ROWID, STRICT;
  CREATE TABLE IF NOT EXISTS limiter_ledger (
    key TEXT PRIMARY KEY, id INTEGER NOT NULL, at INTEGER NOT NULL, amount INTEGER NOT NULL, sum INTEGER NOT NULL,
    full_at INTEGER NOT NULL, tree INTEGER NOT NULL, log BLOB
  ) WITHOUT ROWID, STRICT;
  CREATE TABLE IF NOT EXISTS limiter_node (
    tree INTEGER NOT NULL, slot INTEGER NOT NULL, items BLOB NOT NULL, PRIMARY KEY (tree, slot)
  ) WITHOUT ROWID, STRICT;
  INSERT OR IGNORE INTO limiter_meta VALUES ('version', ${SCHEMA_VERSION}), ('trees', 0), ('swept', '');
`;

function versionOf(database: SqliteDatabase): unknown {
  const table = query(database, "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'limiter_meta'").get();
  if (table === undefined) return undefined;
  return query(database, "SELECT value FROM limiter_meta WHERE name = 'version'").get()?.[0];
}

/**
 * Creates the tables where there are none; a second process that does the same at the same time is harmless.
 *
 * @throws LimiterError ERR_LIMITER_SCHEMA when another version of this package made the tables
 */
export function prepareSchema(database: SqliteDatabase): void {
  let version = versionOf(database);
  if (version === undefined) {
    database.exec('BEGIN IMMEDIATE');
    try {
      database.exec(TABLES);
      version = versionOf(database);
      database.exec('COMMIT');
    } catch (error) {
      database.exec('ROLLBACK');
      throw error;
    }
  }
  if (version !== SCHEMA_VERSION) {
    throw new LimiterError(
      'ERR_LIMITER_SCHEMA',
      `the tables in this database have version ${String(version)}, this @limiter/sqlite reads version ${SCHEMA_VERSION}; ${advice(version)}`,
    );
  }
}

function advice(version: unknown): string {
  return Number(version) < SCHEMA_VERSION
    ? 'they were made before the first release: drop limiter_ledger, limiter_node and limiter_meta while no process has the file open'
    : 'update the package in every process that shares the file';
}
