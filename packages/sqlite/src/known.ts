/**
 * The windows and buckets that need not be read again. Inside a transaction, what is known of a key is what its snapshot
 * holds with the transaction's own changes on top. Afterwards it stays true until somebody else commits: SQLite's
 * `data_version` says so, which moves with the same sign by which SQLite drops its own page cache.
 */
import type { BucketState, WindowState } from '@limiter/core';

/** A row of a window or bucket; null: there is none. */
export type Small = WindowState | BucketState | null;

/** Of twice as many keys at most, those that were asked last. */
const KEYS = 2_048;

export class Known {
  #version: unknown;
  #recent = new Map<string, Small>();
  #older = new Map<string, Small>();

  /** A transaction begins on the state of the file with this number; undefined: nothing is known of it. */
  begin(version: number | undefined): void {
    if (version === undefined || version !== this.#version) this.forget();
    this.#version = version;
  }

  /** undefined: it must be read. */
  get(key: string): Small | undefined {
    const recent = this.#recent.get(key);
    if (recent !== undefined || this.#older.size === 0) return recent;
    const older = this.#older.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  set(key: string, state: Small): void {
    this.#recent.set(key, state);
    if (this.#recent.size < KEYS) return;
    this.#older = this.#recent;
    this.#recent = new Map();
  }

  /** The transaction was taken back. */
  forget(): void {
    if (this.#recent.size > 0) this.#recent.clear();
    if (this.#older.size > 0) this.#older.clear();
  }
}
