/** The store in Upstash Redis: what a caller may set, and what it is checked against. */
import { LimiterError, type Outcome, type Step, type Store } from '@limiter/core';
import { limiterProgram, serverClocks } from '@limiter/redis-lua';
import { createDispatcher } from './dispatcher.js';
import { endpointOf, type UpstashClient, type UpstashCredentials } from './endpoint.js';
import { rest } from './rest.js';

/** Timers count to 2^31-1. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export interface UpstashStoreOptions {
  /** Stands before every key that the store writes; two stores with different prefixes share nothing. Default `limiter`. */
  readonly prefix?: string | undefined;
  /**
   * Default: the database's own clock (TIME), the same for everybody who shares it. A function, in whole ms since the epoch, is
   * for tests and for callers whose clocks agree within 2,000 ms.
   */
  readonly clock?: (() => number) | undefined;
  /** A call whose signal does not say when it will abort is not carried out when it reaches Redis later than this. Whole ms, default 1,000. */
  readonly staleAfterMs?: number | undefined;
  /** After this a request is given up, so that nothing waits for ever: its steps are `unknown-outcome`. Whole ms, default 5,000. */
  readonly requestTimeoutMs?: number | undefined;
}

/**
 * Decides in Upstash Redis, over REST. Every step is one atomic script call; the steps that are asked in one go travel in one
 * HTTP request; a step is sent once, runs at most once, and never after its deadline. Runs wherever there is `fetch`.
 *
 * Of the client, its address, token and consistency are used; its retries, its pipelining and its signal are not.
 *
 * @param client a Redis of @upstash/redis >= 1.39, or `{ url, token }`.
 * @throws ERR_LIMITER_CLIENT, ERR_LIMITER_OPTION. Nothing that happens to a request throws or rejects here.
 * @example
 * const limiter = createLimiter({
 *   name: 'api',
 *   store: upstashStore(Redis.fromEnv()),
 *   limits: { user: tokenBucket({ capacity: 120, refill: '120/1m' }) },
 *   onStoreFailure: 'allow',
 *   storeTimeout: '500ms',
 * });
 */
export function upstashStore(client: UpstashClient | UpstashCredentials, options: UpstashStoreOptions = {}): Store {
  const { prefix = 'limiter', clock, staleAfterMs = 1000, requestTimeoutMs = 5000 } = options;
  check(
    typeof prefix === 'string' && !/[{}\p{Cs}]/u.test(prefix),
    'prefix must be text without { } and half pairs',
    prefix,
  );
  check(clock === undefined || typeof clock === 'function', 'clock must be a function', clock);
  check(isTimer(staleAfterMs), 'staleAfterMs must be a whole number from 1 to 2^31-1', staleAfterMs);
  check(isTimer(requestTimeoutMs), 'requestTimeoutMs must be a whole number from 1 to 2^31-1', requestTimeoutMs);
  const dispatch = createDispatcher(
    rest(endpointOf(client), requestTimeoutMs),
    limiterProgram(prefix, clock),
    serverClocks(),
    { staleAfterMs, lifeMs: requestTimeoutMs, ownClock: clock === undefined },
  );
  return {
    traits: {
      sync: false,
      atomic: 'always',
      clock: clock === undefined ? 'own' : 'caller',
      durable: 'eventually',
      fails: 'possible',
      algorithms: ['fixed-window', 'sliding-window-log', 'token-bucket'],
    },
    run: (steps: readonly Step[], signal): Promise<readonly Outcome[]> => dispatch(steps, signal),
  };
}

const isTimer = (value: unknown): boolean =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= LONGEST_TIMER_MS;

function check(holds: boolean, rule: string, value: unknown): void {
  if (!holds) throw new LimiterError('ERR_LIMITER_OPTION', `${rule}, got ${String(value)}`);
}
