/** The store in Redis or Valkey: what a caller may set, and what it is checked against. */
import { LimiterError } from '@limiter/core';
import { limiterProgram } from '@limiter/redis-lua';
import { linkMakerFor, type RedisStoreClient } from './link-maker.js';
import { type RedisStore, storeOver } from './store-over.js';
import { emitWarning, type RedisWarning } from './warnings.js';

export interface RedisStoreOptions {
  /** Stands before every key that the store writes; two stores with different prefixes share nothing. Default `limiter`. */
  readonly prefix?: string | undefined;
  /**
   * Default: the server's own clock (TIME), the same for everybody who shares the server. A function, in whole ms since the
   * epoch, is for tests and for callers whose clocks agree within 2,000 ms.
   */
  readonly clock?: (() => number) | undefined;
  /**
   * `own` (default): the store opens a connection of its own with the options of the given client and safe ones over them.
   * `shared`: it uses the given client, and warns of each option that lets a step run twice or late.
   */
  readonly connection?: 'own' | 'shared' | undefined;
  /**
   * Redis Cluster: what a call whose limits lie in several slots is. `refuse` (default): a mistake, ERR_LIMITER_CROSS_SLOT, before
   * anything is sent. `give-back`: decided slot by slot, and given back when a later slot refuses; the decision says `atomic: false`.
   */
  readonly crossSlot?: 'refuse' | 'give-back' | undefined;
  /** A call whose signal does not say when it will abort is not carried out when it reaches Redis later than this. Default 1,000. */
  readonly staleAfterMs?: number | undefined;
  /** Default: process.emitWarning. */
  readonly onWarning?: ((warning: RedisWarning) => void) | undefined;
}

/**
 * Decides in Redis >= 6.2 or Valkey: every step is one atomic script call, the steps of one tick travel together, and a step
 * runs at most once and never after its deadline. The README has the whole story of connections, failures and memory.
 *
 * @param client a Redis or Cluster of ioredis 5 or 6 (or iovalkey), or `nodeRedis(client)`.
 * @throws ERR_LIMITER_CLIENT, ERR_LIMITER_OPTION. Nothing that happens to the connection throws or rejects here.
 * @example
 * const limiter = createLimiter({
 *   name: 'api',
 *   store: redisStore(new Redis()),
 *   limits: { user: tokenBucket({ capacity: 120, refill: '120/1m' }) },
 *   onStoreFailure: 'allow',
 * });
 */
export function redisStore(client: RedisStoreClient, options: RedisStoreOptions = {}): RedisStore {
  const { prefix = 'limiter', clock, connection = 'own', crossSlot = 'refuse' } = options;
  const { staleAfterMs = 1000, onWarning = emitWarning } = options;
  check(
    typeof prefix === 'string' && !/[{}\p{Cs}]/u.test(prefix),
    'prefix must be text without { } and half pairs',
    prefix,
  );
  check(clock === undefined || typeof clock === 'function', 'clock must be a function', clock);
  check(connection === 'own' || connection === 'shared', "connection must be 'own' or 'shared'", connection);
  check(crossSlot === 'refuse' || crossSlot === 'give-back', "crossSlot must be 'refuse' or 'give-back'", crossSlot);
  check(Number.isInteger(staleAfterMs) && staleAfterMs >= 1, 'staleAfterMs must be a whole number >= 1', staleAfterMs);
  check(typeof onWarning === 'function', 'onWarning must be a function', onWarning);
  return storeOver({
    makeLink: linkMakerFor(client, connection === 'shared'),
    prefix,
    makeProgram: (whole) => limiterProgram(whole, clock, true),
    clock: clock === undefined ? 'own' : 'caller',
    staleAfterMs,
    giveBack: crossSlot === 'give-back',
    warn: onWarning,
  });
}

function check(holds: boolean, rule: string, value: unknown): void {
  if (!holds) throw new LimiterError('ERR_LIMITER_OPTION', `${rule}, got ${String(value)}`);
}
