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
  'fixed-window': fixedWindowAlgorithm as AnyAlgorithm,
  'sliding-window-log': slidingWindowLogAlgorithm as AnyAlgorithm,
  'token-bucket': tokenBucketAlgorithm as AnyAlgorithm,
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
  const consume = step.op === 'consume';
  const views: unknown[] = [];
  const admitted: boolean[] = [];
  let allowed = true;
  for (let i = 0; i < step.charges.length; i += 1) {
    const charge = step.charges[i] as Charge;
    const algorithm = algorithms[charge.rule.algorithm];
    const view = algorithm.view(states[i], charge.rule, now);
    const admits = charge.cost === 0 || algorithm.admits(view, charge.rule, charge.cost, charge.holdBack);
    if (charge.enforce && !admits) allowed = false;
    views.push(view);
    admitted.push(admits);
  }
  const verdicts: Verdict[] = [];
  const changes: (Change | undefined)[] = [];
  for (let i = 0; i < step.charges.length; i += 1) {
    const charge = step.charges[i] as Charge;
    const asked = consume && charge.cost > 0;
    const answer = judge(charge, views[i], admitted[i] as boolean, asked && allowed, newId);
    // A refusal charges nothing; the one thing that it may write is the move of a ledger after the clock was set back.
    const change = answer.change ?? (asked ? algorithms[charge.rule.algorithm].move(views[i], newId) : undefined);
    verdicts.push(answer.verdict);
    changes.push(change);
  }
  return { outcome: { ok: true, op: step.op, now, allowed, verdicts }, changes };
}

/** One limit's verdict, and its charge when `mayCharge` and it admits. */
function judge(
  charge: Charge,
  view: unknown,
  admits: boolean,
  mayCharge: boolean,
  newId: () => number,
): { readonly verdict: Verdict; readonly change: Change | undefined } {
  const { rule, cost, holdBack } = charge;
  const algorithm = algorithms[rule.algorithm];
  const charged = mayCharge && admits ? algorithm.charge(view, rule, cost, newId) : undefined;
  const numbers = algorithm.numbers(charged === undefined ? view : charged.view, rule, holdBack);
  return {
    verdict: {
      admits,
      heldBack: !admits && holdBack > 0 && algorithm.admits(view, rule, cost, 0),
      charged: charged !== undefined,
      remaining: numbers.remaining,
      retryAfterMs: admits ? 0 : retryAfterMs(charge, view),
      resetAfterMs: numbers.resetAfterMs,
      moreAfterMs: numbers.moreAfterMs,
      mark: charged?.mark,
    },
    change: charged?.change,
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
  const change = charged > 0 ? algorithm.charge(view, rule, charged, newId).change : algorithm.move(view, newId);
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
