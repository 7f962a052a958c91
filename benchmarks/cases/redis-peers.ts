/** The same question to each rival on Redis: may this key do one more? Each answers whether it may. */
import { Ratelimit } from '@upstash/ratelimit';
import { Redis as UpstashRedis } from '@upstash/redis';
import RateLimiter from 'async-ratelimiter';
import type { Redis } from 'ioredis';
import { RedisStore } from 'rate-limit-redis';
import { RateLimiterRedis, RateLimiterRes, RateLimiterUnion } from 'rate-limiter-flexible';

export type Ask = (key: string, cost?: number) => Promise<boolean>;

/** Refuses by rejecting with something that is no Error. */
export function asVerdict(consume: (key: string, cost: number) => Promise<unknown>): Ask {
  return async (key, cost = 1) => {
    try {
      await consume(key, cost);
      return true;
    } catch (refusal) {
      if (refusal instanceof Error) throw refusal;
      return false;
    }
  };
}

export function flexible(redis: Redis, points: number, limits: 1 | 3 = 1, blockInMemory = false): Ask {
  const make = (keyPrefix: string, duration: number): RateLimiterRedis =>
    new RateLimiterRedis({
      storeClient: redis,
      keyPrefix,
      points,
      duration,
      ...(blockInMemory ? { inMemoryBlockOnConsumed: points + 1 } : {}),
    });
  const one = make('rlf-a', 3_600);
  if (limits === 1) return asVerdict((key, cost) => one.consume(key, cost));
  const union = new RateLimiterUnion(one, make('rlf-b', 7_200), make('rlf-c', 10_800));
  return asVerdict(async (key, cost) => {
    try {
      await union.consume(key, cost);
    } catch (refusal) {
      const results = Object.values(refusal as Record<string, unknown>);
      throw results.every((one) => one instanceof RateLimiterRes) ? undefined : refusal;
    }
  });
}

/** The store of express-rate-limit: counts, and the middleware compares. It knows no cost. */
export function expressRedis(redis: Redis, limit: number): Ask {
  const store = new RedisStore({
    sendCommand: (command: string, ...args: string[]) => redis.call(command, ...args) as Promise<never>,
    prefix: 'rlr:',
  });
  store.init({ windowMs: 3_600_000 } as Parameters<RedisStore['init']>[0]);
  return async (key) => (await store.increment(key)).totalHits <= limit;
}

/** A log of one member a call. It knows no cost. */
export function asyncRatelimiter(redis: Redis, limit: number): Ask {
  const limiter = new RateLimiter({ db: redis, max: limit, duration: 3_600_000, namespace: 'arl' });
  return async (key) => (await limiter.get({ id: key })).remaining > 0;
}

/** Its scripts begin with a flag that only Upstash's own server knows; a plain Redis behind the REST stand-in needs it gone. */
function upstashClient(server: { readonly url: string; readonly token: string }): UpstashRedis {
  const client = new UpstashRedis({ ...server, enableTelemetry: false });
  const plainly = (script: string, keys: string[], args: unknown[]) =>
    client.eval(script.replace(/^\s*#!.*\n/, ''), keys, args);
  return Object.create(client, { eval: { value: plainly } }) as UpstashRedis;
}

export function upstashLimiter(
  server: { readonly url: string; readonly token: string },
  limit: number,
  options: { readonly timeout?: number; readonly ephemeralCache: Map<string, number> | false },
): Ratelimit {
  const limiter = Ratelimit.fixedWindow(limit, '1 h');
  return new Ratelimit({ redis: upstashClient(server), limiter, analytics: false, prefix: 'up', ...options });
}

export function upstash(server: { readonly url: string; readonly token: string }, limit: number): Ask {
  const limiter = upstashLimiter(server, limit, { ephemeralCache: new Map() });
  return async (key, rate = 1) => (await limiter.limit(key, { rate })).success;
}
