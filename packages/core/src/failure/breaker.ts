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
import { faultAll, guard, isDead, markGuarded } from './answers.js';
import { type Decorated, decorate, type Run, type RunSync } from './decorate.js';
import { type BreakerClosedEvent, type BreakerOpenedEvent, safely } from './events.js';
import type { Observe } from './observation.js';
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
  return breaking(store, options, (_, outcomes) => outcomes);
}

/** With everything that it answers shown to `observe`: one layer in place of two in the path of every decision. */
export function breaking<S extends Store>(store: S, options: BreakerOptions, observe: Observe): Decorated<S> {
  const most = wholeNumber('failures', options.failures ?? 5, 1, Number.MAX_SAFE_INTEGER);
  const probeAfterMs = wholeNumber('probeAfterMs', options.probeAfterMs ?? 1_000, 1, LONGEST_TIMER_MS);
  const now = options.now ?? monotonicNow;
  const tell = safely(options.onEvent as Parameters<typeof safely>[0]);
  const inner = guard<Store>(store);

  /** Every change of state begins a new era; a dead answer to a question of an older one says nothing about now. */
  let era = 0;
  let inARow = 0;
  let openedAt: number | undefined;
  let probedAt = 0;
  let probing = false;
  let cause: unknown;

  /** The era in which the store may be asked, or how long it may not. */
  function admission(): { readonly era: number } | { readonly waitMs: number } {
    if (openedAt === undefined) return { era };
    // Without its sign, so that a clock that was set back cannot keep the breaker open.
    const sinceMs = Math.abs(now() - probedAt);
    if (probing ? sinceMs < Math.max(PROBE_LOST_MS, 10 * probeAfterMs) : sinceMs < probeAfterMs) {
      return { waitMs: sinceMs < probeAfterMs ? Math.ceil(probeAfterMs - sinceMs) : probeAfterMs };
    }
    probing = true;
    probedAt = now();
    era += 1;
    return { era };
  }

  function refuse(steps: readonly Step[], waitMs: number): readonly Outcome[] {
    return faultAll(steps, 'unreachable', cause, waitMs);
  }

  function seen(outcomes: readonly Outcome[], asked: number): readonly Outcome[] {
    if (outcomes.some((outcome) => !isDead(outcome))) alive();
    else if (asked === era) dead((outcomes[0] as FaultOutcome).cause);
    return outcomes;
  }

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

  /** A mistake of the caller's says nothing about the store: the next call may probe in its place. */
  function mistaken(asked: number): void {
    if (asked !== era || !probing) return;
    probing = false;
    probedAt -= probeAfterMs;
  }

  const run: Run = (steps, signal) => {
    if (steps.length === 0) return inner.run(steps, signal);
    const admitted = admission();
    if (!('era' in admitted)) return Promise.resolve(observe(steps, refuse(steps, admitted.waitMs)));
    return inner.run(steps, signal).then(
      (outcomes) => observe(steps, seen(outcomes, admitted.era)),
      (mistake) => {
        mistaken(admitted.era);
        throw mistake;
      },
    );
  };

  const runSync =
    (ask: RunSync): RunSync =>
    (step) => {
      const admitted = admission();
      if (!('era' in admitted)) return observe([step], refuse([step], admitted.waitMs))[0] as Outcome;
      try {
        return observe([step], seen([ask(step)], admitted.era))[0] as Outcome;
      } catch (mistake) {
        mistaken(admitted.era);
        throw mistake;
      }
    };

  return markGuarded(decorate(inner, run, runSync)) as Decorated<S>;
}
