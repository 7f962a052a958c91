/** The two drivers, better-sqlite3 and node:sqlite, as the few methods that the store calls. */
import { createRequire } from 'node:module';
import { LimiterError } from '@limiter/core';

/** What is bound to a statement. */
export type SqliteValue = string | number | Uint8Array | null;

/** A prepared statement of better-sqlite3 (`Statement`) or node:sqlite (`StatementSync`). */
export interface SqliteStatement {
  run(...values: SqliteValue[]): { readonly changes: number | bigint };
  get(...values: SqliteValue[]): unknown;
  all(...values: SqliteValue[]): unknown[];
}

/** An open database: better-sqlite3's `Database`, or node:sqlite's `DatabaseSync` (Node >= 22). */
export interface SqliteDatabase {
  prepare(sql: string): SqliteStatement;
  exec(sql: string): unknown;
  close(): unknown;
}

/** A row as the values of its columns, in the order of the SELECT. */
export type Row = readonly unknown[];

/** What only one of the two has: how rows become arrays, and whole numbers plain numbers. */
interface Modes {
  raw?(on: boolean): unknown;
  safeIntegers?(on: boolean): unknown;
  setReturnArrays?(on: boolean): void;
  setReadBigInts?(on: boolean): void;
}

export interface Query {
  get(...values: SqliteValue[]): Row | undefined;
  all(...values: SqliteValue[]): readonly Row[];
}

/** A statement that reads, with rows as arrays whatever the driver and however the caller has set it up. */
export function query(database: SqliteDatabase, sql: string): Query {
  const statement = database.prepare(sql);
  const modes = statement as SqliteStatement & Modes;
  modes.safeIntegers?.(false);
  modes.setReadBigInts?.(false);
  modes.raw?.(true);
  modes.setReturnArrays?.(true);
  if (modes.raw !== undefined || modes.setReturnArrays !== undefined) return statement as unknown as Query;
  return {
    get(...values) {
      const row = statement.get(...values) as object | undefined;
      return row === undefined ? undefined : Object.values(row);
    },
    all: (...values) => statement.all(...values).map((row) => Object.values(row as object)),
  };
}

type Open = (path: string) => SqliteDatabase;
const require = createRequire(import.meta.url);

/** better-sqlite3 does not wait for locks by itself here: the store does, and knows for how long. */
function betterSqlite3(): Open {
  const Database = require('better-sqlite3') as new (path: string, options: { timeout: number }) => SqliteDatabase;
  return (path) => new Database(path, { timeout: 0 });
}

function nodeSqlite(): Open | undefined {
  const { getBuiltinModule } = process as { getBuiltinModule?: (id: string) => unknown };
  const sqlite = getBuiltinModule?.('node:sqlite') as
    | { readonly DatabaseSync: new (path: string) => SqliteDatabase }
    | undefined;
  return sqlite === undefined ? undefined : (path) => new sqlite.DatabaseSync(path);
}

/** Installed for another Node, not built, or not there at all. */
function isMissing(error: unknown): boolean {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return code === 'MODULE_NOT_FOUND' || code === 'ERR_DLOPEN_FAILED' || /bindings file/.test(String(message));
}

/**
 * Opens `path` with better-sqlite3 where it is installed, else with node:sqlite.
 *
 * @throws LimiterError ERR_LIMITER_CLIENT when this Node has neither; whatever the driver throws when the file does not open.
 */
export function openDatabase(path: string): SqliteDatabase {
  try {
    return betterSqlite3()(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
    const open = nodeSqlite();
    if (open !== undefined) return open(path);
    throw new LimiterError(
      'ERR_LIMITER_CLIENT',
      'sqliteStore(path) opens the file with better-sqlite3, which is not installed for this Node (npm install better-sqlite3), or with node:sqlite, which needs Node >= 22.13',
      { cause: error },
    );
  }
}
