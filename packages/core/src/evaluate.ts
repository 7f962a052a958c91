/**
 * The decision: ask every limit, then charge every limit that admits, or none. Pure: states and the time come in, verdicts and
 * the changes to store go out. Memory and SQLite run this inside their critical section; Redis runs its Lua twin.
 */
import type { Algorithm, Numbers } from './algorithms/algorithm.js';
import { fixedWindowAlgorithm, type WindowView } from './algorithms/fixed-window.js';
import { type LogView, slidingWindowLogAlgorithm } from './algorithms/sliding-window-log.js';
import type { BucketState, Change, LedgerState, LogState, WindowState } from './algorithms/state.js';
import { ceilDiv } from './algorithms/time.js';
import { type BucketView, tokenBucketAlgorithm } from './algorithms/token-bucket.js';
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
  const fits: boolean[] = [];
  let allowed = true;
  for (let i = 0; i < charges.length; i += 1) {
    const charge = charges[i] as Charge;
    const view = viewOf(charge.rule, states[i], now);
    const fit = admits(charge, view);
    if (charge.enforce && !fit) allowed = false;
    views.push(view);
    fits.push(fit);
  }
  const verdicts: Verdict[] = [];
  const changes: (Change | undefined)[] = [];
  for (let i = 0; i < charges.length; i += 1) {
    const charge = charges[i] as Charge;
    const pays = allowed && (fits[i] as boolean);
    const change = step.op === 'consume' && charge.cost > 0 ? changeOf(charge, views[i], pays, newId) : undefined;
    verdicts.push(verdictOf(charge, views[i], fits[i] as boolean, pays ? change : undefined));
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
  const view = viewOf(charge.rule, state, now);
  const fit = admits(charge, view);
  const change = step.op === 'consume' && charge.cost > 0 ? changeOf(charge, view, fit, newId) : undefined;
  const verdict = verdictOf(charge, view, fit, fit ? change : undefined);
  return {
    outcome: { ok: true, op: step.op, now, allowed: fit || !charge.enforce, verdicts: [verdict] },
    changes: [change],
  };
}

/** A refusal charges nothing; the one thing that it may write is the move of a ledger after the clock was set back. */
function changeOf(charge: Charge, view: unknown, pays: boolean, newId: () => number): Change | undefined {
  return pays ? chargeOf(charge, view, newId) : algorithms[charge.rule.algorithm].move(view, newId);
}

/** One limit's verdict; `charged` is what charging it stores, undefined when it was not charged. */
function verdictOf(charge: Charge, view: unknown, fits: boolean, charged: Change | undefined): Verdict {
  const { rule, cost, holdBack } = charge;
  const numbers = numbersOf(rule, view, holdBack, charged === undefined ? 0 : cost);
  return {
    admits: fits,
    heldBack: !fits && algorithms[rule.algorithm].admits(view, rule, cost, 0),
    charged: charged !== undefined,
    remaining: numbers.remaining,
    retryAfterMs: fits ? 0 : retryAfterMs(charge, view),
    resetAfterMs: numbers.resetAfterMs,
    moreAfterMs: numbers.moreAfterMs,
    mark: charged === undefined ? undefined : algorithms[rule.algorithm].mark(view, charged),
  };
}

// What every decision calls goes by a switch over constants, where a look-up in the table would be shorter: what is called is
// then known, and the engine inlines it.

function viewOf(rule: Rule, state: LedgerState | undefined, now: number): unknown {
  switch (rule.algorithm) {
    case 'fixed-window':
      return fixedWindowAlgorithm.view(state as WindowState | undefined, rule, now);
    case 'sliding-window-log':
      return slidingWindowLogAlgorithm.view(state as LogState | undefined, rule, now);
    case 'token-bucket':
      return tokenBucketAlgorithm.view(state as BucketState | undefined, rule, now);
  }
}

function admits({ rule, cost, holdBack }: Charge, view: unknown): boolean {
  if (cost === 0) return true;
  switch (rule.algorithm) {
    case 'fixed-window':
      return fixedWindowAlgorithm.admits(view as WindowView, rule, cost, holdBack);
    case 'sliding-window-log':
      return slidingWindowLogAlgorithm.admits(view as LogView, rule, cost, holdBack);
    case 'token-bucket':
      return tokenBucketAlgorithm.admits(view as BucketView, rule, cost, holdBack);
  }
}

function chargeOf({ rule, cost }: Charge, view: unknown, newId: () => number): Change {
  switch (rule.algorithm) {
    case 'fixed-window':
      return fixedWindowAlgorithm.charge(view as WindowView, rule, cost, newId);
    case 'sliding-window-log':
      return slidingWindowLogAlgorithm.charge(view as LogView, rule, cost, newId);
    case 'token-bucket':
      return tokenBucketAlgorithm.charge(view as BucketView, rule, cost, newId);
  }
}

function numbersOf(rule: Rule, view: unknown, holdBack: number, added: number): Numbers {
  switch (rule.algorithm) {
    case 'fixed-window':
      return fixedWindowAlgorithm.numbers(view as WindowView, rule, holdBack, added);
    case 'sliding-window-log':
      return slidingWindowLogAlgorithm.numbers(view as LogView, rule, holdBack, added);
    case 'token-bucket':
      return tokenBucketAlgorithm.numbers(view as BucketView, rule, holdBack, added);
  }
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
