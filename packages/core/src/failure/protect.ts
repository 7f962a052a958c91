/** What stands between a limiter and its store: fallback(observation(breaker(deadline(store)))). */
import { causeText } from '../errors.js';
import type { Store } from '../store.js';
import { guard } from './answers.js';
import { type BreakerOptions, breaking } from './breaker.js';
import { withDeadline } from './deadline.js';
import type { Decorated } from './decorate.js';
import { type OnStoreEvent, type StoreEvent, safely, throttled } from './events.js';
import { type FallbackOptions, withFallback, withoutFallback } from './fallback.js';
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

const TIMEOUT_MS = 250;

/**
 * The store as a limiter uses it: answers in time, is left alone while it is dead, hands over to the fallback, and is
 * watched. A store that cannot fail (`fails: 'never'`) is returned untouched; a synchronous one gets no deadline and no
 * breaker, but its throws are faults too.
 *
 * @throws LimiterError as `withDeadline`, `withBreaker` and `withFallback` do
 */
export function protect<S extends Store>(store: S, options: ProtectOptions): Decorated<S> {
  if (store.traits.fails === 'never') return store as unknown as Decorated<S>;
  const { timeoutMs = TIMEOUT_MS, fallback, breaker, now = monotonicNow } = options;
  const onEvent = safely(options.onEvent ?? processWarning(options.name));
  const tell = throttled(onEvent, EVENT_INTERVAL_MS, now);
  const told = (event: StoreEvent): void => void tell(event);

  let guarded: Store;
  if (store.traits.sync) guarded = guard<Store>(store);
  else guarded = withDeadline<Store>(store, { timeoutMs, onEvent: told, now });
  if (store.traits.sync || breaker === false) guarded = observing(guarded, tell, now);
  else guarded = breaking(guarded, { ...breaker, onEvent: told, now }, observer(tell, now));
  guarded = fallback === undefined ? withoutFallback(guarded) : withFallback(guarded, fallback);
  return guarded as Decorated<S>;
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
