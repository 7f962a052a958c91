/**
 * The decision: ask every limit, then charge every limit that admits, or none. Pure: states and the time come in, verdicts and
 * the changes to store go out. Memory and SQLite run this inside their critical section; Redis runs its Lua twin.
 */
import type { Algorithm } from './algorithms/algorithm.js';
import { fixedWindowAlgorithm } from './algorithms/fixed-window.js';
import { slidingWindowLogAlgorithm } from './algorithms/sliding-window-log.js';
import type { BucketState, Change, LedgerState, WindowState } from './algorithms/state.js';
import { ceilDiv } from './algorithms/time.js';
import { tokenBucketAlgorithm } from './algorithms/token-bucket.js';
import type { AlgorithmName, Rule } from './rule.js';
import { ruleLimit } from './rule.js';
import type { Adjusted, Adjustment, AskOutcome, AskStep, Charge, Verdict } from './store.js';

type AnyAlgorithm = Algorithm<Rule, LedgerState, unknown>;

/** The algorithm of a rule. The state that comes with a rule is the one that its ledger's grid names, so the pairing holds by construction. */
export const algorithms: Readonly<Record<AlgorithmName, AnyAlgorithm>> = {
  'fixed-window': fixedWindowAlgorithm as unknown as AnyAlgorithm,
  'sliding-window-log': slidingWindowLogAlgorithm as unknown as AnyAlgorithm,
  'token-bucket': tokenBucketAlgorithm as unknown as AnyAlgorithm,
};

export interface Evaluation {
  readonly outcome: AskOutcome;
  /** What to store, in the order of the charges; undefined leaves that ledger byte for byte as it is. */
  readonly changes: readonly (Change | undefined)[];
}

/**
 * Judges one consume or peek at `now`.
 *
 * @param states what is stored for each charge's ledger, in order; undefined when nothing is.
 * @param newId a number that no ledger of this store has had before; called once for each ledger that is created, opened or moved.
 */
export function evaluate(
  step: AskStep,
  states: readonly (LedgerState | undefined)[],
  now: number,
  newId: () => number,
): Evaluation {
  const { charges } = step;
  if (charges.length === 1) return evaluateOne(step, charges[0] as Charge, states[0], now, newId);
  const views: unknown[] = [];
  let allowed = true;
  for (let i = 0; i < charges.length; i += 1) {
    const charge = charges[i] as Charge;
    const view = algorithms[charge.rule.algorithm].view(states[i], charge.rule, now);
    if (charge.enforce && !admits(charge, view)) allowed = false;
    views.push(view);
  }
  const consume = step.op === 'consume';
  const verdicts: Verdict[] = [];
  const changes: (Change | undefined)[] = [];
  for (let i = 0; i < charges.length; i += 1) {
    const charge = charges[i] as Charge;
    const change = consume && charge.cost > 0 ? changeOf(charge, views[i], allowed, newId) : undefined;
    verdicts.push(verdictOf(charge, views[i], allowed, change));
    changes.push(change);
  }
  return { outcome: { ok: true, op: step.op, now, allowed, verdicts }, changes };
}

/** The commonest step, without lists that grow. */
function evaluateOne(
  step: AskStep,
  charge: Charge,
  state: LedgerState | undefined,
  now: number,
  newId: () => number,
): Evaluation {
  const view = algorithms[charge.rule.algorithm].view(state, charge.rule, now);
  const allowed = !charge.enforce || admits(charge, view);
  const change = step.op === 'consume' && charge.cost > 0 ? changeOf(charge, view, allowed, newId) : undefined;
  const verdict = verdictOf(charge, view, allowed, change);
  return { outcome: { ok: true, op: step.op, now, allowed, verdicts: [verdict] }, changes: [change] };
}

function admits({ rule, cost, holdBack }: Charge, view: unknown): boolean {
  return cost === 0 || algorithms[rule.algorithm].admits(view, rule, cost, holdBack);
}

/** A refusal charges nothing; the one thing that it may write is the move of a ledger after the clock was set back. */
function changeOf(charge: Charge, view: unknown, allowed: boolean, newId: () => number): Change | undefined {
  const algorithm = algorithms[charge.rule.algorithm];
  return allowed && admits(charge, view)
    ? algorithm.charge(view, charge.rule, charge.cost, newId)
    : algorithm.move(view, newId);
}

/** One limit's verdict; it was charged when the step is allowed, it admits, and there is a change. */
function verdictOf(charge: Charge, view: unknown, allowed: boolean, change: Change | undefined): Verdict {
  const { rule, cost, holdBack } = charge;
  const algorithm = algorithms[rule.algorithm];
  const fits = admits(charge, view);
  const charged = allowed && fits && change !== undefined;
  const numbers = algorithm.numbers(view, rule, holdBack, charged ? cost : 0);
  return {
    admits: fits,
    heldBack: !fits && holdBack > 0 && algorithm.admits(view, rule, cost, 0),
    charged,
    remaining: numbers.remaining,
    retryAfterMs: fits ? 0 : retryAfterMs(charge, view),
    resetAfterMs: numbers.resetAfterMs,
    moreAfterMs: numbers.moreAfterMs,
    mark: charged ? algorithm.mark(view, change) : undefined,
  };
}

function retryAfterMs(charge: Charge, view: unknown): number {
  const { rule, cost, holdBack } = charge;
  // What never fits has no retry time, however long one waits.
  if (cost > ruleLimit(rule) - holdBack) return Number.POSITIVE_INFINITY;
  return algorithms[rule.algorithm].waitMs(view, rule, cost, holdBack);
}

export interface Adjusting {
  readonly adjusted: Adjusted;
  readonly change: Change | undefined;
}

/**
 * One ledger's part of a refund or settle at `now`. Giving back moves no anchor and stores no move. Charging more is a new
 * charge at `now` that nothing refuses, cut at twice the limit; what was cut is reported.
 */
export function adjust(
  adjustment: Adjustment,
  state: LedgerState | undefined,
  now: number,
  newId: () => number,
): Adjusting {
  const { rule, amount } = adjustment;
  const algorithm = algorithms[rule.algorithm];
  const view = algorithm.view(state, rule, now);
  if (adjustment.change === 'give-back') {
    if (adjustment.mark === undefined) return { adjusted: { givenBack: 0, charged: 0, cut: 0 }, change: undefined };
    const { givenBack, change } = algorithm.giveBack(view, rule, adjustment.charged, adjustment.mark, amount);
    return { adjusted: { givenBack, charged: 0, cut: 0 }, change };
  }
  const charged = Math.min(amount, algorithm.roomToSettle(view, rule));
  const change = charged > 0 ? algorithm.charge(view, rule, charged, newId) : algorithm.move(view, newId);
  return { adjusted: { givenBack: 0, charged, cut: amount - charged }, change };
}

/**
 * The instant from which a window or bucket may be forgotten: its budget is full again (a window: has ended), under `rule`,
 * which wrote it. For a log it is the newest entry's time + windowMs.
 */
export function fullAgainAt(
  rule: Exclude<Rule, { algorithm: 'sliding-window-log' }>,
  state: WindowState | BucketState,
): number {
  if (rule.algorithm === 'fixed-window') return (state as WindowState).start + rule.windowMs;
  const bucket = state as BucketState;
  return bucket.at + ceilDiv(bucket.debt, rule.refillTokens);
}
