/**
 * The windows and buckets that need not be read again.
 *
 * Inside a transaction, what is known of a key is what its snapshot holds with the transaction's own changes on top, and
 * nothing that is known is forgotten before it ends. Afterwards it stays true until somebody else commits: SQLite's
 * `data_version` says so, which moves with the same sign by which SQLite drops its own page cache.
 */
import type { LedgerState, Rule } from '@limiter/core';

/** What is stored under a key. */
export interface Entry {
  readonly key: string;
  /** undefined: nothing is stored. */
  state: LedgerState | undefined;
  /** The rule that made the state, when it is not in the database yet. */
  unwritten: Rule | undefined;
}

/** Between transactions, of twice as many keys at most: those that were asked last. */
const KEYS = 4_096;

export class Known {
  #version: number | undefined;
  #recent = new Map<string, Entry>();
  #older = new Map<string, Entry>();

  /** A transaction begins on the state of the file with this number; undefined: nothing is known of it. Does what is known hold? */
  begin(version: number | undefined): boolean {
    const holds = this.isOf(version);
    if (!holds) this.forget();
    this.#version = version;
    this.#age();
    return holds;
  }

  /** Has nobody else committed, now that the file has this number? */
  isOf(version: number | undefined): boolean {
    return version !== undefined && version === this.#version;
  }

  /** Outside a transaction: as `get`, which alone would bring every older key back. */
  look(key: string): Entry | undefined {
    this.#age();
    return this.get(key);
  }

  /** Never within a transaction: what is not written yet would be lost. */
  #age(): void {
    if (this.#recent.size < KEYS) return;
    this.#older = this.#recent;
    this.#recent = new Map();
  }

  /** undefined: it must be read. */
  get(key: string): Entry | undefined {
    const recent = this.#recent.get(key);
    if (recent !== undefined || this.#older.size === 0) return recent;
    const older = this.#older.get(key);
    if (older !== undefined) this.#recent.set(key, older);
    return older;
  }

  add(entry: Entry): Entry {
    this.#recent.set(entry.key, entry);
    return entry;
  }

  /** The transaction was taken back, or others have committed. */
  forget(): void {
    if (this.#recent.size > 0) this.#recent.clear();
    if (this.#older.size > 0) this.#older.clear();
  }
}
