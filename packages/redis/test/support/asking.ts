/** The store as a limiter uses it: asked by calls, one a step, in place of `run`. */
import type { Asking, DeadlineSignal, Outcome, Step } from '@limiter/core';
import type { RedisStore } from '../../src/index.js';

/** The same store, with a `run` that asks each step by itself. */
export function askedByCalls(store: RedisStore): RedisStore {
  const { ask } = store;
  if (ask === undefined) throw new Error('the store can be asked by calls');
  const one = (step: Step, signal: DeadlineSignal | undefined): Promise<Outcome> =>
    new Promise((answer, fail) => ask(asking(step, signal, answer, fail)));
  return { ...store, run: (steps, signal) => Promise.all(steps.map((step) => one(step, signal))) };
}

function asking(
  step: Step,
  signal: DeadlineSignal | undefined,
  answer: (outcome: Outcome) => void,
  fail: (mistake: unknown) => void,
): Asking {
  const call = {
    step,
    deadlineAt: signal === undefined ? Number.POSITIVE_INFINITY : (signal.deadlineAt ?? performance.now() + 1000),
    get aborted() {
      return signal?.aborted === true;
    },
    get reason() {
      return signal?.reason;
    },
    onAbort: undefined as (() => void) | undefined,
    answer,
    fail,
  };
  signal?.addEventListener('abort', () => call.onAbort?.());
  return call;
}

/** `cases`, and the first of them once more with the store asked by calls. */
export function bothWays<T extends { readonly name: string }>(
  cases: readonly T[],
): readonly (T & { readonly way: (store: RedisStore) => RedisStore })[] {
  const asGiven = cases.map((one) => ({ ...one, way: (store: RedisStore) => store }));
  const [first] = cases;
  return first === undefined
    ? []
    : [...asGiven, { ...first, name: `${first.name}, asked by calls`, way: askedByCalls }];
}
