/**
 * The definitions, and nothing else. A naive ledger keeps every charge that was ever made and answers from the words of
 * docs/concepts.md; every number that a store reports is then found by search: `remaining` is the largest cost that is
 * admitted, a wait is the least one after which something holds. Slow on purpose, in BigInt, and independent of core.
 */
import type { Rule, Verdict } from '@limiter/core';

/** A charge as the naive ledger remembers it; a receipt points here. */
export interface Entry {
  readonly cost: bigint;
}

/** One ledger. `at` is the instant of evaluation, never before `anchor`. */
export interface NaiveLedger {
  /** Window start, newest entry or last charge; undefined while nothing was charged. */
  readonly anchor: bigint | undefined;
  /** Does nothing count against the limit at `at`? */
  isFull(rule: Rule, at: bigint): boolean;
  /** May the store have dropped this ledger at `at`, under the rule that last wrote it? */
  isForgettable(at: bigint): boolean;
  admits(rule: Rule, at: bigint, cost: bigint, holdBack: bigint): boolean;
  charge(rule: Rule, at: bigint, cost: bigint): Entry;
  /** The ledger after it has moved with a clock that was set back to `now`. */
  moved(rule: Rule, now: bigint): NaiveLedger;
  /** How many whole units a settle may still add. */
  room(rule: Rule, at: bigint): bigint;
  /** What a refund of at most `amount` of `entry` gives back, in the ledger's smallest units. */
  refundable(rule: Rule, at: bigint, entry: Entry, amount: bigint): bigint;
  /** Gives that back and says how many whole units of cost it was. */
  giveBack(rule: Rule, at: bigint, entry: Entry, amount: bigint): bigint;
  /** Has the store a choice at `at` that makes its answer unforeseeable (something forgotten, or not, would count again)? */
  isOpen(rule: Rule, at: bigint): boolean;
  /** May the ledger have a new identity since `entry`, so that giving something back is the store's choice? */
  isLapsed(entry: Entry): boolean;
  /** The store saw this time; what is past at it may be gone for good. */
  passes(at: bigint): void;
}

export const MAX_WHOLE: bigint = 2n ** 53n - 1n;
/** A clock at most this far behind an anchor is waited for. */
const STEP_BACK_MS = 2_000n;
/** Longer than any wait: a debt of 2^53-1 units that comes back one a ms, behind a clock that is 2,000 ms late. */
const FOR_EVER = 2n ** 54n;

export const limitOf = (rule: Rule): bigint => BigInt(rule.algorithm === 'token-bucket' ? rule.capacity : rule.limit);

/** The ledger and the instant by which a question at `now` is judged, and how far the clock is behind. */
export interface Judged {
  readonly ledger: NaiveLedger;
  readonly at: bigint;
  readonly behind: bigint;
  /** The clock was set back further than is waited for. */
  readonly hasMoved: boolean;
}

export function judgedAt(ledger: NaiveLedger, rule: Rule, now: bigint): Judged {
  const late = ledger.anchor === undefined ? 0n : ledger.anchor - now;
  if (late > STEP_BACK_MS) return { ledger: ledger.moved(rule, now), at: now, behind: 0n, hasMoved: true };
  const behind = late > 0n ? late : 0n;
  return { ledger, at: now + behind, behind, hasMoved: false };
}

/** The least n in 1 .. high for which `holds`, which once true stays true; undefined when it holds for none. */
function least(high: bigint, holds: (n: bigint) => boolean): bigint | undefined {
  if (!holds(high)) return undefined;
  let [from, to] = [1n, 1n];
  while (to < high && !holds(to)) [from, to] = [to + 1n, 2n * to];
  if (to > high) to = high;
  while (from < to) {
    const middle = (from + to) / 2n;
    if (holds(middle)) to = middle;
    else from = middle + 1n;
  }
  return to;
}

/** The least wait > 0 until `holds`; Infinity when it never does. A clock that is behind makes it that much longer. */
function wait({ at, behind }: Judged, holds: (at: bigint) => boolean): number {
  const ms = least(FOR_EVER, (n) => holds(at + n));
  return ms === undefined ? Number.POSITIVE_INFINITY : Number(ms + behind);
}

/** The largest cost that is admitted at `at`. */
function largestCost({ ledger }: Judged, rule: Rule, holdBack: bigint, at: bigint): bigint {
  const refused = least(limitOf(rule) + 1n, (cost) => !ledger.admits(rule, at, cost, holdBack));
  return (refused as bigint) - 1n;
}

/** What a peek would say of a limit now: everything but the charge. */
export type Report = Omit<Verdict, 'charged' | 'mark'>;
export type BeforeCharge = Pick<Report, 'admits' | 'heldBack' | 'retryAfterMs'>;

/** What is judged before a charge. */
export function judge(judged: Judged, rule: Rule, cost: bigint, holdBack: bigint): BeforeCharge {
  const { ledger, at } = judged;
  const admitsAt = (at: bigint, heldBack: bigint): boolean => cost === 0n || ledger.admits(rule, at, cost, heldBack);
  const admits = admitsAt(at, holdBack);
  return {
    admits,
    heldBack: !admits && admitsAt(at, 0n),
    retryAfterMs: admits ? 0 : wait(judged, (later) => admitsAt(later, holdBack)),
  };
}

/** `remaining`, `resetAfterMs` and `moreAfterMs`, judged after a charge. */
export function numbers(judged: Judged, rule: Rule, holdBack: bigint): Omit<Report, keyof BeforeCharge> {
  const { ledger, at } = judged;
  const remaining = largestCost(judged, rule, holdBack, at);
  const more = wait(judged, (later) => ledger.admits(rule, later, remaining + 1n, holdBack));
  return {
    remaining: Number(remaining),
    resetAfterMs: ledger.isFull(rule, at) ? 0 : wait(judged, (later) => ledger.isFull(rule, later)),
    moreAfterMs: more === Number.POSITIVE_INFINITY ? 0 : more,
  };
}
