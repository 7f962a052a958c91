/**
 * A deadline for every question: whatever the store does, the caller has an answer in time.
 *
 * ```
 * 0                      timeoutMs
 * |-- run ---------------|  the answer, if it is there (a stalled event loop gets a turn to read it first)
 *                        |  else: signal aborts, one turn, then a fault for each step:
 *                        |       'unreachable' where the store says that it never sent the step, else 'unknown-outcome'
 *                        |------- late answer: admitted? 'allow' keeps the charge, the other words give it back
 * ```
 *
 * A step that timed out is never sent again. What an adjust or reset did late cannot be taken back.
 */
import type { DeadlineSignal, Outcome, Step, Store } from '../store.js';
import { answersOfError, checked, faultAll, guardSync, markGuarded } from './answers.js';
import { type Decorated, decorate } from './decorate.js';
import { type LateAnswerEvent, safely } from './events.js';
import { createExpiry, type Expiry, type SignalledWaiting, type Waiting } from './expiry.js';
import { judgeLateAnswer } from './late-answer.js';
import { LONGEST_TIMER_MS, wholeNumber } from './options.js';
import { monotonicNow } from './time.js';

export interface DeadlineOptions {
  /** 1 .. 2^31-1 ms. From the call of `run` to its answer, whatever happens in between; a stalled event loop adds its stall. */
  readonly timeoutMs: number;
  /** Late answers that had admitted something. An error in it is dropped. */
  readonly onEvent?: ((event: LateAnswerEvent) => void) | undefined;
  /** A clock in ms that never steps back; default `performance.now`. */
  readonly now?: (() => number) | undefined;
}

/**
 * Answers every `run` within `timeoutMs`. Also the place where a store that throws, rejects or answers nonsense is made to
 * keep the contract: each is an 'unknown-outcome' fault; only a LimiterError (a mistake) passes through.
 *
 * One timer for all calls, which keeps nobody alive. `runSync` cannot be interrupted and gets no deadline.
 *
 * @throws LimiterError ERR_LIMITER_NUMBER when timeoutMs is out of range
 * @example
 * const bounded = withDeadline(redisStore(client), { timeoutMs: 50 });
 */
export function withDeadline<S extends Store>(store: S, options: DeadlineOptions): Decorated<S> {
  return markGuarded(decorate(store, createDeadline(store, options).run, guardSync));
}

/** The deadline of every call of `store`, for those who ask it in another way than by `run` too. */
export function createDeadline(store: Store, options: DeadlineOptions): Deadline & { readonly run: Store['run'] } {
  const timeoutMs = wholeNumber('timeoutMs', options.timeoutMs, 1, LONGEST_TIMER_MS);
  const now = options.now ?? monotonicNow;
  const tell = safely(options.onEvent as Parameters<typeof safely>[0]);
  const expiry = createExpiry(timeoutMs, now);
  const deadline: Deadline = {
    timeoutMs,
    now,
    expiry,
    late: (steps, outcomes, dueAt) => late(steps, outcomes, now() - dueAt + timeoutMs),
    timedOut: () => timeout(timeoutMs),
  };

  function run(steps: readonly Step[], signal?: DeadlineSignal): Promise<readonly Outcome[]> {
    return new Promise((resolve, reject) => {
      const pending = new Pending(deadline, steps, resolve, reject);
      const expired = expiry.signal(pending, now());
      try {
        store.run(steps, signal === undefined ? expired : either(expired, signal)).then(
          (outcomes) => pending.answer(outcomes),
          (error) => pending.fail(error),
        );
      } catch (error) {
        pending.fail(error);
      }
    });
  }

  /** Never throws: what comes of it is told, and nobody waits for it. */
  function late(steps: readonly Step[], outcomes: readonly Outcome[], afterMs: number): void {
    const { kept, giveBack } = judgeLateAnswer(steps, outcomes);
    const say = (result: LateAnswerEvent['result'], count: number): void => {
      if (count > 0) tell({ type: 'late-answer', result, count, afterMs, suppressed: 0 });
    };
    say('kept', kept);
    if (giveBack.length === 0) return;
    const done = (answers: readonly Outcome[]): void => {
      const given = answers.filter((outcome) => outcome.ok).length;
      say('given-back', given);
      say('not-given-back', giveBack.length - given);
    };
    // Once, and under the same deadline; a failure is counted, not repeated.
    run(giveBack).then(done, () => say('not-given-back', giveBack.length));
  }

  return { ...deadline, run };
}

/** Aborts with the first of two signals, and says so. */
function either(one: DeadlineSignal, other: DeadlineSignal): DeadlineSignal {
  const deadlineAt = Math.min(one.deadlineAt ?? Number.POSITIVE_INFINITY, other.deadlineAt ?? Number.POSITIVE_INFINITY);
  return Object.assign(AbortSignal.any([one, other]), { deadlineAt });
}

function timeout(timeoutMs: number): Error {
  const error = new Error(`the store did not answer within ${timeoutMs} ms`);
  error.name = 'TimeoutError';
  return error;
}

export interface Deadline {
  readonly timeoutMs: number;
  /** The clock of `expiry`, in ms. */
  readonly now: () => number;
  readonly expiry: Expiry;
  /** What came after a call had been given up that was due at `dueAt`. Never throws. */
  late(steps: readonly Step[], outcomes: readonly Outcome[], dueAt: number): void;
  /** Why a call was given up. */
  timedOut(): Error;
}

type Resolve = (outcomes: readonly Outcome[]) => void;
type Reject = (mistake: unknown) => void;

/** One call of `run`, from the question to whichever comes first: the answer, or the end of the wait. */
class Pending implements SignalledWaiting {
  dueAt = 0;
  open = false;
  before: Waiting | undefined = undefined;
  after: Waiting | undefined = undefined;
  controller: AbortController | undefined = undefined;
  timer: Waiting['timer'] = undefined;
  private givenUp = false;
  private readonly deadline: Deadline;
  private readonly steps: readonly Step[];
  private readonly resolve: Resolve;
  private readonly reject: Reject;

  constructor(deadline: Deadline, steps: readonly Step[], resolve: Resolve, reject: Reject) {
    this.deadline = deadline;
    this.steps = steps;
    this.resolve = resolve;
    this.reject = reject;
  }

  abort(): void {
    this.controller?.abort();
  }

  giveUp(): void {
    this.givenUp = true;
    this.resolve(faultAll(this.steps, 'unknown-outcome', this.deadline.timedOut()));
  }

  answer(answered: readonly Outcome[]): void {
    try {
      const outcomes = checked(this.steps, answered);
      if (this.givenUp) {
        this.deadline.late(this.steps, outcomes, this.dueAt);
      } else {
        this.deadline.expiry.forget(this);
        this.resolve(outcomes);
      }
    } catch (error) {
      this.fail(error);
    }
  }

  /** After `giveUp` this changes nothing: the caller has its answer. */
  fail(error: unknown): void {
    this.deadline.expiry.forget(this);
    try {
      this.resolve(answersOfError(this.steps, error));
    } catch (mistake) {
      this.reject(mistake);
    }
  }
}
