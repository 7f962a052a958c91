/** What stands between a limiter and its store: fallback(observation(breaker(deadline(store)))). */

import { canBeAsked } from '../asking.js';
import { causeText } from '../errors.js';
import type { Store } from '../store.js';
import { guardSync, markGuarded } from './answers.js';
import { type BreakerOptions, breaking, createBreaker } from './breaker.js';
import { type Consult, consulting } from './consult.js';
import { createDeadline } from './deadline.js';
import { type Decorated, decorate } from './decorate.js';
import { type OnStoreEvent, type StoreEvent, safely, throttled } from './events.js';
import { createFallback, type FallbackOptions, fallingBack, finishWithoutFallback } from './fallback.js';
import { EVENT_INTERVAL_MS, observer, observing } from './observation.js';
import { monotonicNow } from './time.js';

export interface ProtectOptions {
  /** The limiter's name, for the warning. */
  readonly name: string;
  /** How long an asynchronous store may take, 1 .. 2^31-1 ms; default 250. */
  readonly timeoutMs?: number | undefined;
  readonly fallback?: FallbackOptions | undefined;
  /** Default: 5 failures, a probe each 1,000 ms. false: none. Not for a synchronous store, which nobody waits for. */
  readonly breaker?: Pick<BreakerOptions, 'failures' | 'probeAfterMs'> | false | undefined;
  /** Default: a process warning where there is a process (Node, Bun, Deno), at most one a minute. */
  readonly onEvent?: OnStoreEvent | undefined;
  /** A clock in ms that never steps back; default `performance.now`. */
  readonly now?: (() => number) | undefined;
}

/** One step asked without a promise, where the store can be asked so (asking.ts). */
export interface Consulted {
  readonly consult?: Consult | undefined;
}

const TIMEOUT_MS = 250;

/**
 * The store as a limiter uses it: answers in time, is left alone while it is dead, hands over to the fallback, and is
 * watched. A store that cannot fail (`fails: 'never'`) is returned untouched; a synchronous one gets no deadline and no
 * breaker, but its throws are faults too.
 *
 * @throws LimiterError as `withDeadline`, `withBreaker` and `withFallback` do
 */
export function protect<S extends Store>(store: S, options: ProtectOptions): Decorated<S> & Consulted {
  if (store.traits.fails === 'never') return store as unknown as Decorated<S> & Consulted;
  const { timeoutMs = TIMEOUT_MS, fallback, breaker: breakerOptions, now = monotonicNow } = options;
  const onEvent = safely(options.onEvent ?? processWarning(options.name));
  const tell = throttled(onEvent, EVENT_INTERVAL_MS, now);
  const told = (event: StoreEvent): void => void tell(event);
  const finish = fallback === undefined ? finishWithoutFallback : createFallback(fallback);
  const observe = observer(tell, now);
  if (store.traits.sync) return fallingBack(observing<Store>(store, observe), finish) as Decorated<S> & Consulted;

  const deadline = createDeadline(store, { timeoutMs, onEvent: told, now });
  const breaker = breakerOptions === false ? undefined : createBreaker({ ...breakerOptions, onEvent: told, now });
  const bounded = markGuarded(decorate<Store>(store, deadline.run, guardSync));
  const watched = breaker === undefined ? observing(bounded, observe) : breaking(bounded, breaker, observe);
  const guarded = fallingBack(watched, finish);
  if (!canBeAsked(store)) return guarded as Decorated<S> & Consulted;
  const consult = consulting({ store, deadline, breaker, observe, finish });
  const run: Store['run'] = (steps, signal) => {
    const [step] = steps;
    if (step === undefined || steps.length > 1 || signal !== undefined) return guarded.run(steps, signal);
    return new Promise((resolve, reject) => consult(step, (outcome) => resolve([outcome]), reject));
  };
  return { ...guarded, run, consult } as Decorated<S> & Consulted;
}

interface Warner {
  readonly emitWarning?: (warning: string, options: { readonly type: string; readonly code: string }) => void;
}

/** `process.emitWarning` for store failures; elsewhere nothing: a library does not write to anybody's console. */
function processWarning(name: string): OnStoreEvent | undefined {
  const { process } = globalThis as { readonly process?: Warner };
  if (typeof process?.emitWarning !== 'function') return undefined;
  return (event) => {
    if (event.type !== 'store-failure') return;
    const { fault, cause, word, suppressed } = event;
    const before = suppressed === 0 ? '' : ` ${suppressed} more since the last warning.`;
    const done = word === undefined ? '' : `; onStoreFailure: '${word}' decides`;
    process.emitWarning?.(`limiter ${name}: the store failed (${fault}: ${causeText(cause)})${done}.${before}`, {
      type: 'LimiterWarning',
      code: 'LIMITER_STORE_FAILURE',
    });
  };
}
