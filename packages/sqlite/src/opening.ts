/** From a path or a database to a connection, now or, where the file cannot be used yet, at a later step. */
import { LimiterError } from '@limiter/core';
import { type Connection, connect } from './connection.js';
import { openDatabase, type SqliteDatabase } from './driver.js';
import { resultCode } from './faults.js';

export interface Opening {
  /** The connection, opened when there is none. @throws what the driver throws; LimiterError for a mistake */
  connection(): Connection;
  /**
   * The connection itself waits for no lock from here on: how long to wait is the store's to say, not that of the
   * connection's owner. What it had been told to wait, in ms, for `waitAgain`; 0 when there is nothing to restore.
   */
  stopWaiting(connection: Connection, asReader: boolean): number;
  waitAgain(connection: Connection, ms: number): void;
  /** The file failed under the connection: the next step opens it again. Not for a database of the caller's. */
  failed(): void;
  /** Checkpoints and closes what was opened here. */
  close(): void;
}

/**
 * A charge writes one page, which is most of what it takes: a small one, and with it as many in the log as make 4 MB before
 * they are copied into the file, SQLite's usual size. In a file that is there already pages keep their size.
 */
const SETTINGS = `
  PRAGMA page_size = 1024; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4000;
`;

function openFile(path: string): Connection {
  const database = openDatabase(path);
  try {
    database.exec(SETTINGS);
    return connect(database, true);
  } catch (error) {
    database.close();
    throw error;
  }
}

function ownFile(path: string): Opening {
  let connection: Connection | undefined;
  function close(): void {
    const open = connection;
    connection = undefined;
    open?.database.close();
  }
  return {
    connection() {
      connection ??= openFile(path);
      return connection;
    },
    stopWaiting: () => 0,
    waitAgain() {},
    failed() {
      try {
        close();
      } catch {
        // What cannot be closed properly is left; the failure itself is being reported.
      }
    },
    close() {
      connection?.database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      close();
    },
  };
}

function callersDatabase(database: SqliteDatabase): Opening {
  let connection: Connection | undefined;
  return {
    connection() {
      connection ??= connect(database, false);
      return connection;
    },
    stopWaiting(open, asReader) {
      // With a write-ahead log a reader meets no lock.
      if (asReader && open.writeAhead) return 0;
      const waitsMs = Number(open.busyTimeout.get()?.[0]);
      if (waitsMs > 0) database.exec('PRAGMA busy_timeout = 0');
      return waitsMs;
    },
    waitAgain(_open, ms) {
      database.exec(`PRAGMA busy_timeout = ${ms}`);
    },
    failed() {},
    close() {},
  };
}

function isDatabase(value: unknown): value is SqliteDatabase {
  const { prepare, exec } = (value ?? {}) as Partial<SqliteDatabase>;
  return typeof prepare === 'function' && typeof exec === 'function';
}

/** Locked, read-only, full, damaged: a failure of the store's, which may pass. Anything else at the start is a mistake. */
const MAY_PASS: readonly number[] = [5, 6, 7, 8, 10, 11, 13, 15, 26];

/** @throws LimiterError ERR_LIMITER_CLIENT, ERR_LIMITER_SCHEMA */
export function open(source: string | SqliteDatabase): Opening {
  if (typeof source !== 'string' && !isDatabase(source)) {
    throw new LimiterError(
      'ERR_LIMITER_CLIENT',
      `sqliteStore takes a path, a better-sqlite3 Database or a node:sqlite DatabaseSync, got ${typeof source}`,
    );
  }
  const opening = typeof source === 'string' ? ownFile(source) : callersDatabase(source);
  try {
    opening.connection();
  } catch (error) {
    if (error instanceof LimiterError) throw error;
    if (!MAY_PASS.includes(resultCode(error) ?? 0)) {
      const what = typeof source === 'string' ? JSON.stringify(source) : 'the database';
      throw new LimiterError('ERR_LIMITER_CLIENT', `${what} cannot be used: ${String((error as Error).message)}`, {
        cause: error,
      });
    }
  }
  return opening;
}
