/**
 * The decision: ask every limit, then charge every limit that admits, or none. Pure: states and the time come in, verdicts and
 * the changes to store go out. Memory and SQLite run this inside their critical section; Redis runs its Lua twin.
 */
import { newMark, type Writable } from './algorithms/algorithm.js';
import { algorithms } from './algorithms/by-name.js';
import {
  admits,
  chargeOf,
  markOf,
  moveOf,
  newStates,
  newViews,
  numbersOf,
  type States,
  type Views,
  viewOf,
  waitMsOf,
} from './algorithms/by-rule.js';
import type { Change, LedgerState } from './algorithms/state.js';
import { ruleLimit } from './rule.js';
import type { AskOutcome, AskStep, Charge, Mark, Verdict } from './store.js';

export interface Evaluation {
  readonly outcome: AskOutcome;
  /** What to store, in the order of the charges; undefined leaves that ledger byte for byte as it is. */
  readonly changes: readonly (Change | undefined)[];
}

/** What one charge came to, in records that are written into again. */
interface Kept extends States {
  readonly verdict: Writable<Verdict>;
  readonly mark: Writable<Mark>;
}

/** An evaluation that is written into again: what it says, its changes included, holds until the next one. */
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
  return { verdict: newVerdict(), mark: newMark(), ...newStates() };
}

/** How the n-th charge of the step in hand is seen: records that never leave this file. */
interface Seen extends Views {
  view: unknown;
  fits: boolean;
}

const ALONE: Seen = newSeen();
const SEEN: Seen[] = [];

function newSeen(): Seen {
  return { ...newViews(), view: undefined, fits: false };
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

function retryAfterMs(charge: Charge, view: unknown, moreAfterMs: number): number {
  const { rule, cost, holdBack } = charge;
  // What never fits has no retry time, however long one waits.
  if (cost > ruleLimit(rule) - holdBack) return Number.POSITIVE_INFINITY;
  // Nothing is left, so one unit fits as soon as anything comes back.
  if (cost === 1) return moreAfterMs;
  return waitMsOf(charge, view);
}
