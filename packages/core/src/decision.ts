/** A decision: plain data that says yes or no, when to come back, and which limit speaks to the client. */
import type { Amount, Mode } from './limit.js';
import type { FaultOutcome } from './store.js';

export interface LimitStatus<L extends string = string> {
  readonly name: L;
  /** The axis value, several as a JSON list, '' for everybody; null when skipped. */
  readonly key: string | null;
  readonly mode: Mode;
  /** An axis of this limit does not apply to this call. */
  readonly skipped: boolean;
  /** Does this limit alone admit? Judged before the charge. */
  readonly allowed: boolean;
  readonly cost: number;
  /** What was charged: its cost, or 0. */
  readonly charged: number;
  readonly limit: Amount;
  /** Units held back from this call's priority. */
  readonly heldBack: number;
  /** The largest cost admissible now, after this call. Infinity when skipped or unlimited. */
  readonly remaining: number;
  /** 0 if it admits; Infinity if never; else the least wait, in ms, after which the same call is admitted. */
  readonly retryAfterMs: number;
  /** The least wait until the full budget is back; 0 if nothing is used. */
  readonly resetAfterMs: number;
  /** The least wait until `remaining` grows; 0 if it cannot. */
  readonly moreAfterMs: number;
}

export type Reason = 'admitted' | 'over-limit' | 'cost-above-limit' | 'held-back' | 'store-failure';
export type DecidedBy = 'store' | 'fallback' | 'policy' | 'lease' | 'denial-memory';

export interface Decision<L extends string = string, T extends string = string> {
  readonly allowed: boolean;
  /** The verdict if nothing were in shadow: every limit enforced, the limiter too. */
  readonly wouldBe: boolean;
  /** The store's time of the decision, ms since the Unix epoch. */
  readonly at: number;
  /** 0 if it was admitted, else the longest wait of the enforced limits: a denial dominates. */
  readonly retryAfterMs: number;
  /** Why; a limiter in shadow gives the reason of the verdict that it did not enforce. */
  readonly reason: Reason;
  /** `policy`: no store was asked (every limit skipped or unlimited) or none answered (`reason: 'store-failure'`). */
  readonly decidedBy: DecidedBy;
  /** false: the charges could not be made as one (Redis Cluster `crossSlot: 'give-back'`). */
  readonly atomic: boolean;
  /** 0, or by how much this way of deciding can admit more than the limit. Infinity when a failure is allowed through. */
  readonly bound: number;
  readonly tier: T | undefined;
  /** The limit that speaks to the client; undefined when no enforced limit was asked for a cost. */
  readonly tightest: LimitStatus<L> | undefined;
  /** For refund and settle; undefined when nothing can have been charged. */
  readonly receipt: string | undefined;
  /** Set when the store failed: what happened, and its cause. */
  readonly failure: FaultOutcome | undefined;
  readonly limits: { readonly [K in L]: LimitStatus<K> };
}

/**
 * Does this limit speak to the client rather than the one found so far? Denied: the longest wait. Allowed: the fewest further
 * calls of this cost. Ties go to the first in the record's order.
 */
export function isTighter(status: LimitStatus, than: LimitStatus | undefined, allowed: boolean): boolean {
  if (than === undefined) return true;
  if (!allowed) return status.retryAfterMs > than.retryAfterMs;
  return Math.floor(status.remaining / status.cost) < Math.floor(than.remaining / than.cost);
}
