/**
 * A breaker: a store that is dead is not asked, so nobody waits for it.
 *
 * ```
 * closed --`failures` dead answers in a row--> open --after probeAfterMs, with the next call--> probing
 *   ^                                           ^                                                |  |
 *   |                                           +------------ the probe found it dead -----------+  |
 *   +------------------------------------------------------- it answered --------------------------+
 * ```
 *
 * Dead means 'unreachable' or 'unknown-outcome'. A store that answers 'refused' (read-only, out of memory) or 'corrupt' (one
 * damaged key) is alive: asking it costs no wait, and other keys may be fine. A call of several steps is dead when all are.
 *
 * The probe is an ordinary call, one at a time, and what it decides counts. The interval is fixed: it starts with the probe,
 * so under steady traffic a store that is back decides again within probeAfterMs (a growing interval would save a call a
 * second and pay with minutes of outage after the outage).
 */
import type { FaultOutcome, Outcome, Step, Store } from '../store.js';
import { fault, guard, isDead, markGuarded } from './answers.js';
import { type Decorated, decorate, type Run, type RunSync } from './decorate.js';
import { type BreakerClosedEvent, type BreakerOpenedEvent, safely } from './events.js';
import { type Observe, observeAll } from './observation.js';
import { LONGEST_TIMER_MS, wholeNumber } from './options.js';
import { monotonicNow } from './time.js';

export interface BreakerOptions {
  /** Dead answers in a row after which the store is not asked any more; default 5. */
  readonly failures?: number | undefined;
  /** The time from one probe to the next; default 1,000 ms. */
  readonly probeAfterMs?: number | undefined;
  /** Opened and closed. An error in it is dropped. */
  readonly onEvent?: ((event: BreakerOpenedEvent | BreakerClosedEvent) => void) | undefined;
  /** A clock in ms that never steps back; default `performance.now`. There is no timer. */
  readonly now?: (() => number) | undefined;
}

/** A probe that nobody answers for this long (there is no deadline inside) is lost, and another may start. */
const PROBE_LOST_MS = 60_000;

/**
 * Stops asking a store that failed `failures` times in a row: each step is then answered 'unreachable' at once, with
 * retryAfterMs until the next probe. Put the deadline inside it: `withBreaker(withDeadline(store, ...))`.
 *
 * @throws LimiterError ERR_LIMITER_NUMBER when an option is out of range
 */
export function withBreaker<S extends Store>(store: S, options: BreakerOptions = {}): Decorated<S> {
  return breaking(store, createBreaker(options), () => {});
}

/** The state of a breaker, apart from the store whose answers it is shown. */
export interface Breaker {
  /** 0: the store may be asked, in the era of now. Else how many ms it may not be. */
  admission(): number;
  /** Every change of state begins a new one; a dead answer to a question of an older era says nothing about now. */
  readonly era: number;
  /** The answer in place of the store's. */
  refusal(waitMs: number): FaultOutcome;
  /** A call that was asked in the era `asked` has been answered; `dead`: by nothing but dead outcomes, of which this is the first. */
  seen(dead: FaultOutcome | undefined, asked: number): void;
  /** A mistake of the caller's says nothing about the store: the next call may probe in its place. */
  mistaken(asked: number): void;
}

/** @throws LimiterError ERR_LIMITER_NUMBER when an option is out of range */
export function createBreaker(options: BreakerOptions): Breaker {
  const most = wholeNumber('failures', options.failures ?? 5, 1, Number.MAX_SAFE_INTEGER);
  const probeAfterMs = wholeNumber('probeAfterMs', options.probeAfterMs ?? 1_000, 1, LONGEST_TIMER_MS);
  const now = options.now ?? monotonicNow;
  const tell = safely(options.onEvent as Parameters<typeof safely>[0]);

  let era = 0;
  let inARow = 0;
  let openedAt: number | undefined;
  let probedAt = 0;
  let probing = false;
  let cause: unknown;

  function alive(): void {
    inARow = 0;
    if (openedAt === undefined) return;
    const openMs = now() - openedAt;
    openedAt = undefined;
    probing = false;
    cause = undefined;
    era += 1;
    tell({ type: 'breaker-closed', openMs });
  }

  function dead(reason: unknown): void {
    inARow += 1;
    probing = false;
    if (openedAt === undefined && inARow < most) return;
    cause = new Error(`the store failed ${inARow} times in a row and is asked again every ${probeAfterMs} ms`, {
      cause: reason,
    });
    if (openedAt !== undefined) return;
    openedAt = now();
    probedAt = openedAt;
    era += 1;
    tell({ type: 'breaker-opened', failures: inARow, probeAfterMs, cause: reason });
  }

  return {
    get era() {
      return era;
    },
    admission() {
      if (openedAt === undefined) return 0;
      // Without its sign, so that a clock that was set back cannot keep the breaker open.
      const sinceMs = Math.abs(now() - probedAt);
      if (probing ? sinceMs < Math.max(PROBE_LOST_MS, 10 * probeAfterMs) : sinceMs < probeAfterMs) {
        return sinceMs < probeAfterMs ? Math.ceil(probeAfterMs - sinceMs) : probeAfterMs;
      }
      probing = true;
      probedAt = now();
      era += 1;
      return 0;
    },
    refusal: (waitMs) => fault('unreachable', cause, waitMs),
    seen(deadOutcome, asked) {
      if (deadOutcome === undefined) alive();
      else if (asked === era) dead(deadOutcome.cause);
    },
    mistaken(asked) {
      if (asked !== era || !probing) return;
      probing = false;
      probedAt -= probeAfterMs;
    },
  };
}

/** With everything that it answers shown to `observe`: one layer in place of two in the path of every decision. */
export function breaking<S extends Store>(store: S, breaker: Breaker, observe: Observe): Decorated<S> {
  const inner = guard<Store>(store);

  function refused(steps: readonly Step[], waitMs: number): readonly Outcome[] {
    return observeAll(
      observe,
      steps,
      steps.map(() => breaker.refusal(waitMs)),
    );
  }

  function seen(steps: readonly Step[], outcomes: readonly Outcome[], asked: number): readonly Outcome[] {
    breaker.seen(outcomes.every(isDead) ? (outcomes[0] as FaultOutcome) : undefined, asked);
    return observeAll(observe, steps, outcomes);
  }

  const run: Run = (steps, signal) => {
    if (steps.length === 0) return inner.run(steps, signal);
    const waitMs = breaker.admission();
    if (waitMs > 0) return Promise.resolve(refused(steps, waitMs));
    const asked = breaker.era;
    return inner.run(steps, signal).then(
      (outcomes) => seen(steps, outcomes, asked),
      (mistake) => {
        breaker.mistaken(asked);
        throw mistake;
      },
    );
  };

  const runSync =
    (ask: RunSync): RunSync =>
    (step) => {
      const waitMs = breaker.admission();
      if (waitMs > 0) return refused([step], waitMs)[0] as Outcome;
      const asked = breaker.era;
      try {
        return seen([step], [ask(step)], asked)[0] as Outcome;
      } catch (mistake) {
        breaker.mistaken(asked);
        throw mistake;
      }
    };

  return markGuarded(decorate(inner, run, runSync)) as Decorated<S>;
}
