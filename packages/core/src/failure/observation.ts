/** Tells when the store fails and when it decides again: once an interval, with a count, whatever the traffic. */
import type { Failure, FaultOutcome, Outcome, Step, Store } from '../store.js';
import { guard, markGuarded } from './answers.js';
import { type Decorated, decorate } from './decorate.js';
import { type OnStoreEvent, type StoreFailureEvent, type StoreRecoveredEvent, safely, throttled } from './events.js';
import { monotonicNow } from './time.js';

export interface ObservationOptions {
  /** An error in it is dropped. */
  readonly onEvent: (event: StoreFailureEvent | StoreRecoveredEvent) => void;
  /** At most one `store-failure` in this time, the first at once; default 60,000 ms. */
  readonly intervalMs?: number | undefined;
  /** A clock in ms that never steps back; default `performance.now`. There is no timer. */
  readonly now?: (() => number) | undefined;
}

export const EVENT_INTERVAL_MS = 60_000;

/**
 * Changes no answer. Each step that a fault answers is a `store-failure`; the first step that the store decides after it is
 * the recovery. Belongs outside the breaker and the deadline, and inside the fallback, whose decisions are failures of the store.
 */
export function withObservation<S extends Store>(store: S, options: ObservationOptions): Decorated<S> {
  const now = options.now ?? monotonicNow;
  const onEvent = safely(options.onEvent as OnStoreEvent);
  return observing(store, observer(throttled(onEvent, options.intervalMs ?? EVENT_INTERVAL_MS, now), now));
}

/** The store, with everything that it answers shown to `observe`. */
export function observing<S extends Store>(store: S, observe: Observe): Decorated<S> {
  const inner = guard<Store>(store);
  return markGuarded(
    decorate(
      inner,
      (steps, signal) => inner.run(steps, signal).then((outcomes) => observeAll(observe, steps, outcomes)),
      (ask) => (step) => {
        const outcome = ask(step);
        observe(step, outcome);
        return outcome;
      },
    ),
  ) as Decorated<S>;
}

/** Looks at the answer to a step. */
export type Observe = (step: Step, outcome: Outcome) => void;

/** Looks at answers and hands them on. */
export function observeAll(observe: Observe, steps: readonly Step[], outcomes: readonly Outcome[]): readonly Outcome[] {
  for (let i = 0; i < steps.length; i += 1) observe(steps[i] as Step, outcomes[i] as Outcome);
  return outcomes;
}

/** `tell` answers whether an event was told (see `throttled`). */
export function observer(tell: ReturnType<typeof throttled>, now: () => number): Observe {
  let failures = 0;
  let failingSince = 0;
  /** A recovery is told when its failure was. */
  let told = false;

  function failed({ fault, cause }: FaultOutcome, word: Failure | undefined): void {
    if (failures === 0) failingSince = now();
    failures += 1;
    told = tell({ type: 'store-failure', fault, cause, word, suppressed: 0 }) || told;
  }

  function decided(): void {
    if (told) tell({ type: 'store-recovered', failures, outageMs: now() - failingSince });
    told = false;
    failures = 0;
  }

  return (step, outcome) => {
    if (!outcome.ok) failed(outcome, step.op === 'reset' ? undefined : step.onFailure);
    else if (failures > 0) decided();
  };
}
