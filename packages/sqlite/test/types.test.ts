import type { Store, SyncStore } from '@limiter/core';
import type BetterSqlite3 from 'better-sqlite3';
import { describe, expectTypeOf, it } from 'vitest';
import type { SqliteDatabase, sqliteStore } from '../src/index.js';

/** node:sqlite's DatabaseSync as Node 22 and 24 declare it, as far as it concerns us. */
type SupportedValue = null | number | bigint | string | NodeJS.ArrayBufferView;
interface StatementSync {
  all(...anonymousParameters: SupportedValue[]): Record<string, unknown>[];
  all(named: Record<string, SupportedValue>, ...anonymousParameters: SupportedValue[]): Record<string, unknown>[];
  get(...anonymousParameters: SupportedValue[]): Record<string, unknown> | undefined;
  get(
    named: Record<string, SupportedValue>,
    ...anonymousParameters: SupportedValue[]
  ): Record<string, unknown> | undefined;
  run(...anonymousParameters: SupportedValue[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  run(
    named: Record<string, SupportedValue>,
    ...anonymousParameters: SupportedValue[]
  ): { changes: number | bigint; lastInsertRowid: number | bigint };
}
interface DatabaseSync {
  close(): void;
  exec(sql: string): void;
  prepare(sql: string): StatementSync;
}

describe('the types', () => {
  it("take better-sqlite3's Database and node:sqlite's DatabaseSync as they are", () => {
    expectTypeOf<BetterSqlite3.Database>().toExtend<SqliteDatabase>();
    expectTypeOf<DatabaseSync>().toExtend<SqliteDatabase>();
    expectTypeOf<{ prepare(sql: string): string }>().not.toExtend<SqliteDatabase>();
  });

  it('make a store that decides at once', () => {
    expectTypeOf<ReturnType<typeof sqliteStore>>().toExtend<SyncStore>();
    expectTypeOf<SyncStore>().toExtend<Store>();
  });
});
