/**
 * Token bucket: `capacity` tokens, refilled continuously at `refillTokens` per `refillMs`. Kept as a debt, so that an
 * unknown ledger is a full bucket and no time passes in fractions.
 *
 * ```
 * debt(now) = max(0, debt0 - (now - t0) * refillTokens)      in units of 1/refillMs token
 * admits c  = debt(now) <= (capacity - holdBack - c) * refillMs
 * charge c  : debt0 := debt(now) + c * refillMs, t0 := now
 * ```
 *
 * Bound in any interval: capacity + elapsed * refillTokens / refillMs. ("3 per minute" as a bucket of 3 admits the 4th
 * after 20 s; choose a window where that is not meant.)
 * Source: the leaky bucket as a meter, ITU-T I.371 annex A, with the level counted in whole parts of a token.
 */
import type { TokenBucketRule } from '../rule.js';
import type { Mark } from '../store.js';
import { type Algorithm, type GivenBack, type Numbers, newMark, newNumbers, type Writable } from './algorithm.js';
import { type BucketState, newBucketState } from './state.js';
import { ceilDiv, floorDiv, MAX, STEP_BACK_MS } from './time.js';

/** The bucket as it is judged at `at`. */
export interface BucketView {
  readonly kind: 'fresh' | 'current' | 'moved';
  /** The instant of evaluation: `now`, or the anchor when the clock is a little behind it. */
  readonly at: number;
  /** How far the clock is behind the anchor: every finite wait > 0 is that much longer. */
  readonly behindMs: number;
  /** debt(at), units of 1/refillMs token. */
  readonly debt: number;
  readonly charged: number;
  readonly id: number;
  readonly state: BucketState | undefined;
}

/** debt0 less what has come back in `elapsedMs`. A product that passes 2^53, and so is rounded, is more than any debt. */
function debtAfter(debt: number, elapsedMs: number, refillTokens: number): number {
  const back = elapsedMs * refillTokens;
  return back >= debt ? 0 : debt - back;
}

export function newBucketView(): Writable<BucketView> {
  return { kind: 'fresh', at: 0, behindMs: 0, debt: 0, charged: 0, id: 0, state: undefined };
}

function view(state: BucketState | undefined, rule: TokenBucketRule, now: number, into = newBucketView()): BucketView {
  into.state = state;
  into.at = now;
  into.behindMs = 0;
  into.debt = 0;
  into.charged = 0;
  into.id = 0;
  if (state === undefined) {
    into.kind = 'fresh';
    return into;
  }
  const behindMs = state.at - now;
  if (behindMs > STEP_BACK_MS) {
    into.kind = 'moved';
    into.debt = state.debt;
    return into;
  }
  into.kind = 'current';
  if (behindMs > 0) {
    into.at = state.at;
    into.behindMs = behindMs;
    into.debt = state.debt;
  } else into.debt = debtAfter(state.debt, -behindMs, rule.refillTokens);
  into.charged = state.charged;
  into.id = state.id;
  return into;
}

function admits(view: BucketView, rule: TokenBucketRule, cost: number, holdBack: number): boolean {
  // Where the cost is above the budget the right side is negative, and no debt is.
  return view.debt <= (rule.capacity - holdBack - cost) * rule.refillMs;
}

/** The least wait until `debt` is at most `level`; 0 when it is already. */
function waitUntilDebt(view: BucketView, rule: TokenBucketRule, debt: number, level: number): number {
  return debt <= level ? 0 : ceilDiv(debt - level, rule.refillTokens) + view.behindMs;
}

function waitMs(view: BucketView, rule: TokenBucketRule, cost: number, holdBack: number): number {
  return waitUntilDebt(view, rule, view.debt, (rule.capacity - holdBack - cost) * rule.refillMs);
}

function numbers(
  view: BucketView,
  rule: TokenBucketRule,
  holdBack: number,
  added: number,
  into = newNumbers(),
): Numbers {
  const budget = rule.capacity - holdBack;
  const debt = view.debt + added * rule.refillMs;
  // Whole free tokens: what is partly owed is not free.
  const remaining = Math.max(0, budget - ceilDiv(debt, rule.refillMs));
  const levelForMore = budget - remaining - 1;
  into.remaining = remaining;
  into.resetAfterMs = waitUntilDebt(view, rule, debt, 0);
  into.moreAfterMs = levelForMore < 0 ? 0 : waitUntilDebt(view, rule, debt, levelForMore * rule.refillMs);
  return into;
}

function charge(
  view: BucketView,
  rule: TokenBucketRule,
  cost: number,
  newId: () => number,
  into: Writable<BucketState> = newBucketState(),
): BucketState {
  const keepsId = view.kind === 'current' && cost <= MAX - view.charged;
  into.debt = view.debt + cost * rule.refillMs;
  into.at = view.at;
  into.charged = keepsId ? view.charged + cost : cost;
  into.id = keepsId ? view.id : newId();
  return into;
}

function mark(_view: BucketView, next: BucketState, into = newMark()): Mark {
  into.id = next.id;
  into.at = next.at;
  into.position = next.charged;
  return into;
}

function move(view: BucketView, newId: () => number): BucketState | undefined {
  return view.kind === 'moved' ? { debt: view.debt, at: view.at, charged: 0, id: newId() } : undefined;
}

/** Up to a debt of min(2 x capacity, floor((2^53-1) / refillMs)) whole tokens. */
function roomToSettle(view: BucketView, rule: TokenBucketRule): number {
  const most = Math.min(2 * rule.capacity, floorDiv(MAX, rule.refillMs)) * rule.refillMs;
  return view.debt >= most ? 0 : floorDiv(most - view.debt, rule.refillMs);
}

/**
 * What refill has already returned, or could not have returned, is never given twice. Of the charge's units at most
 * `charged - refilled since` are still owed; the last charges are paid back last, so what was charged since may not be
 * touched either: the larger of the two claims, capped by the debt.
 */
function giveBack(view: BucketView, rule: TokenBucketRule, charged: number, mark: Mark, amount: number): GivenBack {
  const none: GivenBack = { givenBack: 0, change: undefined };
  if (view.kind !== 'current' || view.id !== mark.id || view.state === undefined) return none;
  const { refillMs, refillTokens } = rule;
  const notRefilled = debtAfter(charged * refillMs, Math.max(0, view.at - mark.at), refillTokens);
  // Negative where what was charged since is more than the debt (and exact where it is not: the product is at most the debt).
  const notCoveredSince = view.debt - (view.charged - mark.position) * refillMs;
  const units = Math.min(Math.min(amount, charged) * refillMs, Math.max(notRefilled, notCoveredSince), view.debt);
  if (units === 0) return none;
  // The anchor stays: taking the units off the stored debt takes exactly as much off debt(now), which holds at least as many.
  const state: BucketState = { ...view.state, debt: view.state.debt - units };
  return { givenBack: floorDiv(units, refillMs), change: state };
}

export const tokenBucketAlgorithm: Algorithm<TokenBucketRule, BucketState, BucketView, BucketState> = {
  view,
  admits,
  waitMs,
  numbers,
  charge,
  mark,
  move,
  roomToSettle,
  giveBack,
};
