/** A connection of the test's own to a file, by whichever driver this Node has: better-sqlite3, or node:sqlite. */
import { onTestFinished } from 'vitest';
import { openDatabase, type SqliteDatabase, type SqliteValue } from '../../src/driver.js';

/** Closed when the test ends. Waits for no lock. */
export function open(file: string): SqliteDatabase {
  const database = openDatabase(file);
  onTestFinished(() => {
    try {
      database.close();
    } catch {
      // The test closed it already, and node:sqlite minds.
    }
  });
  return database;
}

/** The same in WAL mode, as a caller would hand it in. */
export function openWriteAhead(file: string): SqliteDatabase {
  const database = open(file);
  database.exec('PRAGMA journal_mode = WAL');
  return database;
}

/** All rows of a query, as arrays. */
export function rows(database: SqliteDatabase, sql: string, ...values: SqliteValue[]): unknown[][] {
  return database
    .prepare(sql)
    .all(...values)
    .map((row) => Object.values(row as object));
}

/** The first column of the first row. */
export function value(database: SqliteDatabase, sql: string, ...values: SqliteValue[]): unknown {
  return rows(database, sql, ...values)[0]?.[0];
}
