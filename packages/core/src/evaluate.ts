/**
 * The decision: ask every limit, then charge every limit that admits, or none. Pure: states and the time come in, verdicts and
 * the changes to store go out. Memory and SQLite run this inside their critical section; Redis runs its Lua twin.
 */
import { type Algorithm, type Numbers, newMark, type Writable } from './algorithms/algorithm.js';
import { fixedWindowAlgorithm, newWindowView, type WindowView } from './algorithms/fixed-window.js';
import { type LogView, newLogView, slidingWindowLogAlgorithm } from './algorithms/sliding-window-log.js';
import {
  type BucketState,
  type Change,
  type LedgerState,
  type LogChange,
  type LogState,
  newBucketState,
  newWindowState,
  type WindowState,
} from './algorithms/state.js';
import { ceilDiv } from './algorithms/time.js';
import { type BucketView, newBucketView, tokenBucketAlgorithm } from './algorithms/token-bucket.js';
import type { AlgorithmName, Rule } from './rule.js';
import { ruleLimit } from './rule.js';
import type { Adjusted, Adjustment, AskOutcome, AskStep, Charge, Mark, Verdict } from './store.js';

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

/** What one charge came to, in records that are written into again. */
interface Kept {
  readonly verdict: Writable<Verdict>;
  readonly mark: Writable<Mark>;
  readonly window: Writable<WindowState>;
  readonly bucket: Writable<BucketState>;
}

/** An evaluation that is written into again: what it says holds until the next one. */
export interface KeptEvaluation extends Evaluation {
  readonly outcome: Writable<AskOutcome> & { readonly verdicts: Verdict[] };
  readonly changes: (Change | undefined)[];
  readonly kept: Kept[];
}

/** For a store that decides often and passes nothing of it on: `evaluate` writes into it and allocates nothing. */
export function newEvaluation(): KeptEvaluation {
  return { outcome: newOutcome(), changes: [], kept: [] };
}

/**
 * Judges one consume or peek at `now`.
 *
 * @param states what is stored for each charge's ledger, in order; undefined when nothing is.
 * @param newId a number that no ledger of this store has had before; called once for each ledger that is created, opened or moved.
 * @param into where the answer is written; without it everything in the answer is new.
 */
export function evaluate(
  step: AskStep,
  states: readonly (LedgerState | undefined)[],
  now: number,
  newId: () => number,
  into?: KeptEvaluation,
): Evaluation {
  const { charges, op } = step;
  const count = charges.length;
  if (count === 1) return evaluateOne(step, charges[0] as Charge, states[0], now, newId, into);
  while (SEEN.length < count) SEEN.push(newSeen());
  let allowed = true;
  for (let i = 0; i < count; i += 1) {
    const charge = charges[i] as Charge;
    const seen = SEEN[i] as Seen;
    const view = viewOf(charge.rule, states[i], now, seen);
    const fits = admits(charge, view);
    seen.view = view;
    seen.fits = fits;
    if (!fits && charge.enforce) allowed = false;
  }
  const evaluation = into ?? newEvaluation();
  const { outcome, changes, kept } = evaluation;
  const { verdicts } = outcome;
  setLength(verdicts, changes, count);
  if (into !== undefined) while (kept.length < count) kept.push(newKept());
  for (let i = 0; i < count; i += 1) {
    const charge = charges[i] as Charge;
    const { view, fits, bucket, log } = SEEN[i] as Seen;
    const keep = kept[i];
    const pays = fits && allowed;
    const change = op === 'consume' && charge.cost > 0 ? changeOf(charge, view, pays, newId, keep) : undefined;
    changes[i] = change;
    verdicts[i] = verdictOf(charge, view, fits, pays ? change : undefined, keep);
    bucket.state = undefined;
    log.log = undefined;
  }
  outcome.op = op;
  outcome.now = now;
  outcome.allowed = allowed;
  return evaluation;
}

/** Makes both lists as long as they have to be; what they hold is written over. */
function setLength(verdicts: Verdict[], changes: (Change | undefined)[], count: number): void {
  if (verdicts.length > count) {
    verdicts.length = count;
    changes.length = count;
  }
}

/** The commonest step, without lists to walk. */
function evaluateOne(
  step: AskStep,
  charge: Charge,
  state: LedgerState | undefined,
  now: number,
  newId: () => number,
  into: KeptEvaluation | undefined,
): Evaluation {
  const { op } = step;
  const view = viewOf(charge.rule, state, now, ALONE);
  const fits = admits(charge, view);
  if (into?.kept.length === 0) into.kept.push(newKept());
  const keep = into?.kept[0];
  const change = op === 'consume' && charge.cost > 0 ? changeOf(charge, view, fits, newId, keep) : undefined;
  const verdict = verdictOf(charge, view, fits, fits ? change : undefined, keep);
  ALONE.bucket.state = undefined;
  ALONE.log.log = undefined;
  const allowed = fits || !charge.enforce;
  if (into === undefined) return { outcome: { ok: true, op, now, allowed, verdicts: [verdict] }, changes: [change] };
  const { outcome, changes } = into;
  setLength(outcome.verdicts, changes, 1);
  outcome.verdicts[0] = verdict;
  changes[0] = change;
  outcome.op = op;
  outcome.now = now;
  outcome.allowed = allowed;
  return into;
}

function newOutcome(): KeptEvaluation['outcome'] {
  return { ok: true, op: 'consume', now: 0, allowed: true, verdicts: [] };
}

function newVerdict(): Writable<Verdict> {
  return {
    admits: true,
    heldBack: false,
    charged: false,
    remaining: 0,
    retryAfterMs: 0,
    resetAfterMs: 0,
    moreAfterMs: 0,
    mark: undefined,
  };
}

function newKept(): Kept {
  return { verdict: newVerdict(), mark: newMark(), window: newWindowState(), bucket: newBucketState() };
}

/** How the n-th charge of the step in hand is seen: records that never leave this file. */
interface Seen {
  readonly window: Writable<WindowView>;
  readonly bucket: Writable<BucketView>;
  readonly log: Writable<LogView>;
  view: unknown;
  fits: boolean;
}

const ALONE: Seen = newSeen();
const SEEN: Seen[] = [];

function newSeen(): Seen {
  return { window: newWindowView(), bucket: newBucketView(), log: newLogView(), view: undefined, fits: false };
}

/** A refusal charges nothing; the one thing that it may write is the move of a ledger after the clock was set back. */
function changeOf(
  charge: Charge,
  view: unknown,
  pays: boolean,
  newId: () => number,
  keep: Kept | undefined,
): Change | undefined {
  return pays ? chargeOf(charge, view, newId, keep) : moveOf(charge.rule, view, newId);
}

/** One limit's verdict; `charged` is what charging it stores, undefined when it was not charged. */
function verdictOf(
  charge: Charge,
  view: unknown,
  fits: boolean,
  charged: Change | undefined,
  keep: Kept | undefined,
): Verdict {
  const { rule, cost, holdBack } = charge;
  const verdict = keep === undefined ? newVerdict() : keep.verdict;
  numbersOf(rule, view, holdBack, charged === undefined ? 0 : cost, verdict);
  verdict.admits = fits;
  verdict.heldBack = !fits && holdBack > 0 && algorithms[rule.algorithm].admits(view, rule, cost, 0);
  verdict.charged = charged !== undefined;
  verdict.retryAfterMs = fits ? 0 : retryAfterMs(charge, view, verdict.moreAfterMs);
  verdict.mark = charged === undefined ? undefined : markOf(rule, view, charged, keep?.mark);
  return verdict;
}

// What every decision calls goes by a switch over constants, where a look-up in the table would be shorter: what is called is
// then known, and the engine inlines it.

function viewOf(rule: Rule, state: LedgerState | undefined, now: number, into: Seen): unknown {
  switch (rule.algorithm) {
    case 'fixed-window':
      return fixedWindowAlgorithm.view(state as WindowState | undefined, rule, now, into.window);
    case 'sliding-window-log':
      return slidingWindowLogAlgorithm.view(state as LogState | undefined, rule, now, into.log);
    case 'token-bucket':
      return tokenBucketAlgorithm.view(state as BucketState | undefined, rule, now, into.bucket);
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

function chargeOf({ rule, cost }: Charge, view: unknown, newId: () => number, keep: Kept | undefined): Change {
  switch (rule.algorithm) {
    case 'fixed-window':
      return fixedWindowAlgorithm.charge(view as WindowView, rule, cost, newId, keep?.window);
    case 'sliding-window-log':
      return slidingWindowLogAlgorithm.charge(view as LogView, rule, cost, newId);
    case 'token-bucket':
      return tokenBucketAlgorithm.charge(view as BucketView, rule, cost, newId, keep?.bucket);
  }
}

function moveOf(rule: Rule, view: unknown, newId: () => number): Change | undefined {
  switch (rule.algorithm) {
    case 'fixed-window':
      return fixedWindowAlgorithm.move(view as WindowView, newId);
    case 'sliding-window-log':
      return slidingWindowLogAlgorithm.move(view as LogView, newId);
    case 'token-bucket':
      return tokenBucketAlgorithm.move(view as BucketView, newId);
  }
}

function numbersOf(rule: Rule, view: unknown, holdBack: number, added: number, into: Writable<Numbers>): void {
  switch (rule.algorithm) {
    case 'fixed-window':
      fixedWindowAlgorithm.numbers(view as WindowView, rule, holdBack, added, into);
      return;
    case 'sliding-window-log':
      slidingWindowLogAlgorithm.numbers(view as LogView, rule, holdBack, added, into);
      return;
    case 'token-bucket':
      tokenBucketAlgorithm.numbers(view as BucketView, rule, holdBack, added, into);
  }
}

function markOf(rule: Rule, view: unknown, charged: Change, into: Writable<Mark> | undefined): Mark {
  switch (rule.algorithm) {
    case 'fixed-window':
      return fixedWindowAlgorithm.mark(view as WindowView, charged as WindowState, into);
    case 'sliding-window-log':
      return slidingWindowLogAlgorithm.mark(view as LogView, charged as LogChange, into);
    case 'token-bucket':
      return tokenBucketAlgorithm.mark(view as BucketView, charged as BucketState, into);
  }
}

function retryAfterMs(charge: Charge, view: unknown, moreAfterMs: number): number {
  const { rule, cost, holdBack } = charge;
  // What never fits has no retry time, however long one waits.
  if (cost > ruleLimit(rule) - holdBack) return Number.POSITIVE_INFINITY;
  // Nothing is left, so one unit fits as soon as anything comes back.
  if (cost === 1) return moreAfterMs;
  switch (rule.algorithm) {
    case 'fixed-window':
      return fixedWindowAlgorithm.waitMs(view as WindowView, rule, cost, holdBack);
    case 'sliding-window-log':
      return slidingWindowLogAlgorithm.waitMs(view as LogView, rule, cost, holdBack);
    case 'token-bucket':
      return tokenBucketAlgorithm.waitMs(view as BucketView, rule, cost, holdBack);
  }
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
