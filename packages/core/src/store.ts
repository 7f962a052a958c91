/**
 * The contract between a limiter and a store: operations are data. A limiter says what it wants as steps; a store answers
 * each with an outcome. `run` is the only method a store must have, so a new store is one file (docs/writing-a-store.md),
 * and everything around a store (deadline, breaker, fallback, batching) is a function from store to store.
 *
 * What a store promises:
 *  1. Atomic. Each step happens as if alone and at one instant: all its ledgers are read, judged and written together.
 *  2. In order. The steps of one `run` happen in the order given; a fault of one step is that step's only.
 *  3. One clock. `now` is the store's own time in whole ms since the Unix epoch, read once a step (or once a `run`).
 *  4. A refusal writes nothing, except the move of a ledger after the clock was set back (core's `evaluate` says when).
 *  5. Forgetting. A ledger may be dropped when its budget is full again, not sooner; nothing is kept for ever.
 *  6. At most once. A step is never sent twice unless the first sending provably did not run, and never after `signal`
 *     has aborted. When the store cannot know, it answers `unknown-outcome`.
 *  7. A step is the caller's: a store that answers with `runSync` holds on to none of it beyond the answer.
 *  8. Failures are outcomes. `run` rejects only with a LimiterError for a mistake of the caller's, and then no step ran.
 */
import type { AlgorithmName, Rule } from './rule.js';

/** Names one ledger: the stored state of one limit for one key. The parts arrive unjoined; the store encodes them without collision. */
export interface Ledger {
  /** `limiter/limit`, or a name without `/` that several limiters share on purpose. Letters, digits and `_ . - /` only. */
  readonly name: string;
  /** Algorithm, window and grid, from `ruleGrid`: short text of letters, digits and `+`. */
  readonly grid: string;
  /** The axis values in the limit's order: any strings at all (empty, NUL, lone surrogates, 10 kB). Empty: one ledger for everybody. */
  readonly values: readonly string[];
  /** Ledgers of one slot live together where keys are spread over servers (Redis Cluster hash tag). Any string; part of the key. */
  readonly slot?: string | undefined;
}

/** One limit's part of a question. */
export interface Charge {
  readonly ledger: Ledger;
  readonly rule: Rule;
  /** Whole cost, 0 .. 2^53-1. Cost 0 is admitted, charges nothing and opens no window; its status is still reported. */
  readonly cost: number;
  /** Units of the limit kept back from this call's priority (r in the formulas). */
  readonly holdBack: number;
  /** false: a shadow limit: asked, charged when it admits and the step is allowed, never refuses. */
  readonly enforce: boolean;
}

/** What a limiter does when the store fails; see docs/when-the-store-fails.md. Stores ignore it, decorators read it. */
export type Failure = 'allow' | 'deny' | 'throw' | 'fallback';

/** Ask all charges; charge those that admit if every enforced one admits. `peek` asks the same and writes nothing. */
export interface AskStep {
  readonly op: 'consume' | 'peek';
  readonly charges: readonly Charge[];
  readonly onFailure?: Failure | undefined;
}

/** Where a charge lies: three integers that only the store that made them reads. */
export interface Mark {
  /** Identity of the ledger when it was charged; a receipt for another identity gives nothing back. */
  readonly id: number;
  /** The instant at which the charge was evaluated. */
  readonly at: number;
  /** Token bucket: the running sum right after this charge. Log: the entry. Fixed window: 0. */
  readonly position: number;
}

/** One ledger's part of a refund or settle. `mark` is undefined when the charge was 0. */
export interface Adjustment {
  readonly ledger: Ledger;
  readonly rule: Rule;
  readonly mark: Mark | undefined;
  /** What was charged there, 0 included. */
  readonly charged: number;
  /** `give-back`: at most `amount` of that charge. `charge`: `amount` more at `now`, which nothing refuses (capped, see `adjust`). */
  readonly change: 'give-back' | 'charge';
  readonly amount: number;
}

export interface AdjustStep {
  readonly op: 'adjust';
  readonly adjustments: readonly Adjustment[];
  /**
   * Leave a marker for `ttlMs`; when one of this `key` is there already, do nothing and answer `closed: true`. The marker lies in the slot
   * of `beside`, one of the receipt's ledgers.
   */
  readonly once?: { readonly key: string; readonly ttlMs: number; readonly beside: Ledger } | undefined;
  readonly onFailure?: Failure | undefined;
  /** `fallback`: the charges were made in the fallback's ledgers, so they are adjusted there. Stores ignore it, decorators read it. */
  readonly by?: 'fallback' | undefined;
}

/** Forget these ledgers: exactly these keys, no pattern. */
export interface ResetStep {
  readonly op: 'reset';
  readonly ledgers: readonly Ledger[];
}

export type Step = AskStep | AdjustStep | ResetStep;

/** One limit's answer. `admits` and `retryAfterMs` are judged before the charge, the rest after it. */
export interface Verdict {
  readonly admits: boolean;
  /** Refused, and with `holdBack` 0 it would have admitted: less important work is being shed. */
  readonly heldBack: boolean;
  /** Was this limit charged its cost? (false in a peek, a denial, at cost 0.) */
  readonly charged: boolean;
  /** The largest cost admissible now, after this step. */
  readonly remaining: number;
  /** 0 if it admits; Infinity if never; else the least wait after which the same question is admitted. */
  readonly retryAfterMs: number;
  /** The least wait until the full budget is back; 0 if nothing is used. */
  readonly resetAfterMs: number;
  /** The least wait until `remaining` grows; 0 if it cannot. */
  readonly moreAfterMs: number;
  /** Where the charge lies; undefined when nothing was charged. */
  readonly mark: Mark | undefined;
}

export interface AskOutcome {
  readonly ok: true;
  readonly op: 'consume' | 'peek';
  readonly now: number;
  readonly allowed: boolean;
  /** In the order of the step's charges. */
  readonly verdicts: readonly Verdict[];
  /** false when the charges could not be made as one (Redis Cluster `crossSlot: 'give-back'`). Default true. */
  readonly atomic?: boolean | undefined;
  /** Who decided, when it was not the store itself. */
  readonly by?: 'fallback' | 'lease' | 'denial-memory' | undefined;
  /** By how much this way of deciding can admit more than the limit. Default 0. */
  readonly bound?: number | undefined;
  /** Why somebody else decided: the store's fault, when a fallback did. */
  readonly cause?: FaultOutcome | undefined;
}

export interface Adjusted {
  /** Whole units of cost given back (a bucket may get a fraction of a unit more). */
  readonly givenBack: number;
  /** Whole units charged on top. */
  readonly charged: number;
  /** Whole units that were asked for and could not be charged. */
  readonly cut: number;
}

export interface AdjustOutcome {
  readonly ok: true;
  readonly op: 'adjust';
  readonly now: number;
  /** The marker of `once` was there already; nothing was done. */
  readonly closed: boolean;
  /** In the order of the step's adjustments; empty when `closed`. */
  readonly adjusted: readonly Adjusted[];
}

export interface ResetOutcome {
  readonly ok: true;
  readonly op: 'reset';
  readonly now: number;
}

/**
 * - `unreachable`: the step did not run and never will.
 * - `unknown-outcome`: it was sent and no answer came; it may have run. Never retried.
 * - `refused`: the store answered with an error and wrote nothing (read-only, out of memory, busy, a full disk).
 * - `corrupt`: the stored state is not a ledger (a foreign or damaged key); nothing of the step was written.
 */
export type Fault = 'unreachable' | 'unknown-outcome' | 'refused' | 'corrupt';

export interface FaultOutcome {
  readonly ok: false;
  readonly fault: Fault;
  readonly cause: unknown;
  /** After how many ms it makes sense to ask again, when the store or a breaker knows. */
  readonly retryAfterMs?: number | undefined;
}

export type Outcome = AskOutcome | AdjustOutcome | ResetOutcome | FaultOutcome;

/** The outcomes that answer a step of type S. */
export type OutcomeOf<S extends Step> =
  | FaultOutcome
  | (S extends AskStep
      ? AskOutcome
      : S extends AdjustStep
        ? AdjustOutcome
        : S extends ResetStep
          ? ResetOutcome
          : never);

/** What a store says of itself. A limiter that needs more is refused at construction. */
export interface Traits {
  /** `runSync` exists and a step can be decided without waiting. */
  readonly sync: boolean;
  /** `same-slot`: only ledgers of one slot are decided as one. */
  readonly atomic: 'always' | 'same-slot';
  /** `own`: everybody who shares the store shares its clock. `caller`: the clock was passed in. */
  readonly clock: 'own' | 'caller';
  /** Do ledgers outlive the process? */
  readonly durable: 'no' | 'eventually' | 'yes';
  /** `never`: an in-process store; `onStoreFailure` may then be left out. */
  readonly fails: 'never' | 'possible';
  readonly algorithms: readonly AlgorithmName[];
  /** Every limit is divided among this many equal instances (memoryStore's `instances`). Default 1. */
  readonly instances?: number | undefined;
}

/** A signal that says when it will abort, so that a store can tell its server: a step that arrives later is not carried out. */
export interface DeadlineSignal extends AbortSignal {
  /** On the clock of `performance.now()`, in ms. */
  readonly deadlineAt?: number | undefined;
}

/** What a store must have, and what it may: `askSync`, `recall` and `ask` (asking.ts) are for speed only, see docs/shortcuts.md. */
export interface Store {
  readonly traits: Traits;
  /**
   * One outcome per step, in order. When `signal` aborts, steps that were not sent never will be, and are answered
   * `unreachable` at once; steps that were sent are still answered by what really happened.
   */
  run(steps: readonly Step[], signal?: DeadlineSignal): Promise<readonly Outcome[]>;
  runSync?(step: Step): Outcome;
  /**
   * As `runSync`, for a caller that reads the outcome at once: it is lent, a record of the store's own that the next step writes
   * over, so that nothing is allocated for it.
   */
  askSync?(step: AskStep): Outcome;
  /**
   * An answer that needs no asking (denial memory), or undefined. A limiter asks for it before anything else, so that it costs no
   * deadline. `run` and `runSync` give the same answer. It holds on to none of the step; the answer is lent, as that of `askSync`.
   */
  recall?(step: Step): Outcome | undefined;
  /** Ends what the store itself opened (connections, files), nothing else. */
  close?(): Promise<void>;
}

/** A store that can also answer at once. */
export interface SyncStore extends Store {
  readonly traits: Traits & { readonly sync: true };
  runSync(step: Step): Outcome;
}
