/** A group of the suite is data: sentences, each with the function that proves it. Nothing here knows a test runner. */
import type { Bench } from './bench.js';

/** What a check asks of the store under test beyond the contract itself. A store that lacks it says why (`Capabilities.unsupported`). */
export type Need =
  /** The store reads the clock that the factory is given, and nobody else's. */
  | 'turned-clock'
  /** The factory returns `second`: another handle on the same data, with a clock of its own. */
  | 'second-handle'
  /** The factory returns `dump`: everything that is stored, as text. */
  | 'dump'
  /** What is past leaves `dump` by the turned clock (not by another one, as the time to live of a server's key does). */
  | 'forgetting'
  /** The factory returns `damage`: overwrites what is stored for a ledger with something that is no ledger. */
  | 'damage'
  /** One step may name ledgers of different slots. */
  | 'several-slots'
  /** `runSync`. */
  | 'sync'
  /** The marker of an adjust step (`once`). */
  | 'once';

export interface Check {
  /** A sentence that could stand in the manual. */
  readonly title: string;
  readonly needs?: readonly Need[];
  /** Returns when the sentence holds for this store, rejects when it does not. */
  readonly run: (bench: Bench) => Promise<void>;
}

export interface Group {
  readonly name: string;
  readonly checks: readonly Check[];
}
