/**
 * What a store hands back, made safe: a store that throws, rejects or answers nonsense gives faults, as if it had kept
 * its promise that failures are outcomes. A LimiterError is a mistake of the caller's and passes through.
 */
import { LimiterError } from '../errors.js';
import type { Fault, FaultOutcome, Outcome, Step, Store } from '../store.js';
import { type Decorated, decorate, type Run, type RunSync } from './decorate.js';

export function fault(kind: Fault, cause: unknown, retryAfterMs?: number): FaultOutcome {
  return retryAfterMs === undefined
    ? { ok: false, fault: kind, cause }
    : { ok: false, fault: kind, cause, retryAfterMs };
}

/** Is the store itself gone? `refused` and `corrupt` are answers: whoever gives them is alive, and waiting for it costs nothing. */
export function isDead(outcome: Outcome): boolean {
  return !outcome.ok && (outcome.fault === 'unreachable' || outcome.fault === 'unknown-outcome');
}

/** Every step answered with the same fault. */
export function faultAll(
  steps: readonly Step[],
  kind: Fault,
  cause: unknown,
  retryAfterMs?: number,
): readonly Outcome[] {
  return steps.map(() => fault(kind, cause, retryAfterMs));
}

/**
 * What a throw or rejection means. `unknown-outcome`, not `refused`: nobody who broke the contract is believed to have
 * written nothing (the error may have come up while an answer was read).
 */
export function answersOfError(steps: readonly Step[], error: unknown): readonly Outcome[] {
  if (error instanceof LimiterError) throw error;
  return faultAll(steps, 'unknown-outcome', error);
}

/** The outcomes as they are when each answers its step; else `unknown-outcome` where one does not. With a wrong count nothing can be told apart. */
export function checked(steps: readonly Step[], outcomes: readonly Outcome[]): readonly Outcome[] {
  if (!Array.isArray(outcomes) || outcomes.length !== steps.length) {
    const count = Array.isArray(outcomes) ? `${outcomes.length} outcomes` : 'no list of outcomes';
    return faultAll(steps, 'unknown-outcome', new Error(`the store answered ${count} to ${steps.length} steps`));
  }
  for (let i = 0; i < steps.length; i += 1) {
    if (!answers(steps[i] as Step, outcomes[i])) return steps.map((step, j) => checkedOne(step, outcomes[j]));
  }
  return outcomes;
}

/** The outcome if it answers the step, else `unknown-outcome`. */
export function checkedOne(step: Step, outcome: unknown): Outcome {
  if (answers(step, outcome)) return outcome;
  return fault('unknown-outcome', new Error(`the store's outcome does not answer the step '${step.op}'`));
}

function answers(step: Step, outcome: unknown): outcome is Outcome {
  if (typeof outcome !== 'object' || outcome === null) return false;
  const seen = outcome as Outcome;
  if (seen.ok === false) return typeof seen.fault === 'string';
  if (seen.ok !== true || seen.op !== step.op) return false;
  if (step.op === 'reset') return true;
  if (step.op === 'adjust') {
    // A receipt that was used before adjusts nothing, so there is nothing to list.
    return seen.op === 'adjust' && (seen.closed === true || seen.adjusted?.length === step.adjustments.length);
  }
  return seen.op !== 'adjust' && seen.op !== 'reset' && seen.verdicts?.length === step.charges.length;
}

const guarded = new WeakSet<Store>();

/** Says that a store already answers as it should, so that a stack of decorators checks once. */
export function markGuarded<S extends Store>(store: S): S {
  guarded.add(store);
  return store;
}

/** The store with faults in place of throws and nonsense; a decorated store is returned as it is. */
export function guard<S extends Store>(store: S): Decorated<S> {
  if (guarded.has(store)) return store as unknown as Decorated<S>;
  const run: Run = async (steps, signal) => {
    try {
      return checked(steps, await store.run(steps, signal));
    } catch (error) {
      return answersOfError(steps, error);
    }
  };
  return markGuarded(decorate(store, run, guardSync));
}

/** `runSync` with faults in place of throws and nonsense. */
export function guardSync(runSync: RunSync): RunSync {
  return (step) => {
    try {
      return checkedOne(step, runSync(step));
    } catch (error) {
      return answersOfError([step], error)[0] as Outcome;
    }
  };
}
