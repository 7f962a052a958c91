/** What a store keeps for one ledger, by algorithm. Fixed window and token bucket are one small record; a log is a list. */

/** Fixed window: the cost admitted in the window that starts at `start`. */
export interface WindowState {
  readonly start: number;
  readonly used: number;
  /** New when the window opens and when a step back moves it. */
  readonly id: number;
}

export function newWindowState(): WindowState {
  return { start: 0, used: 0, id: 0 };
}

/** Token bucket: the debt right after the last charge, in units of 1/refillMs token. */
export interface BucketState {
  readonly debt: number;
  /** Time of the last charge: the anchor. */
  readonly at: number;
  /** Cost charged under this `id`, a running sum. */
  readonly charged: number;
  /** New when the ledger is created, when a step back moves it, and when `charged` would pass 2^53-1. */
  readonly id: number;
}

export function newBucketState(): BucketState {
  return { debt: 0, at: 0, charged: 0, id: 0 };
}

/**
 * Sliding window log, read side. A store answers these from its own layout (arrays, rows, a sorted set) without
 * reading all entries. Times are as stored, the log's offset applied. `kept` is an entry's cost less its refunds.
 */
export interface LogState {
  readonly id: number;
  /** Time of the newest entry, refunded ones included: the anchor. */
  readonly newestAt: number;
  /** Kept cost of the entries with time > `after`. */
  usedAfter(after: number): number;
  /**
   * Time of the earliest entry, among those with time > `after`, up to and including which at least `amount` kept cost has been
   * passed, counting from `after`. 1 <= amount <= usedAfter(after).
   */
  timeOfUnit(amount: number, after: number): number;
  /** Time and kept cost of the entry at `position` of this log, or undefined when it was dropped. */
  entry(position: number): { readonly at: number; readonly kept: number } | undefined;
  /** The position that the next appended entry will have. */
  readonly nextPosition: number;
}

/** What a log must store after a step, in this order: shift all entries, append one, give back to one. */
export interface LogChange {
  /** The ledger is new: drop what is there, begin a log with this identity. */
  readonly create?: number | undefined;
  /** Every entry moves this much earlier (one stored offset, not a rewrite); 0 when the clock was not set back. */
  readonly shiftMs: number;
  readonly append?: { readonly at: number; readonly cost: number } | undefined;
  readonly giveBack?: { readonly position: number; readonly amount: number } | undefined;
}

export type LedgerState = WindowState | BucketState | LogState;

/** The next state of a window or bucket, or the change of a log; by the rule's algorithm. */
export type Change = WindowState | BucketState | LogChange;
