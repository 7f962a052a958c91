/** The public face of @limiter/sqlite; reading it is reading the API. */
export type { SqliteDatabase, SqliteStatement, SqliteValue } from './driver.js';
export { type SqliteStoreOptions, sqliteStore } from './sqlite-store.js';
