/** Who is struck: ours with a fallback, rate-limiter-flexible with insurance and a time limit, @upstash/ratelimit with its timeout. */
import { createLimiter, fixedWindow } from '@limiter/core';
import { memoryStore } from '@limiter/memory';
import { redisStore } from '@limiter/redis';
import { startUpstash } from '@limiter/test-servers';
import { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import { upstashLimiter } from '../cases/redis-peers.js';
import { type Ask, LIMIT } from './load.js';

export const DEADLINE_MS = 250;

export interface Struck {
  readonly ask: Ask;
  close(): Promise<void>;
}

export type Where =
  | { readonly host: string; readonly port: number }
  | { readonly sentinels: { readonly host: string; readonly port: number }[]; readonly name: string };

export interface Contender {
  readonly name: string;
  /** How many budgets the policy allows while the store is away: a fallback or an insurance in this process is one more. */
  readonly budgetsBeside: number;
  /** Questions in flight. */
  readonly flight: number;
  /** Speaks to the server itself, so a Sentinel can tell it a new one. */
  readonly direct: boolean;
  make(server: Where): Promise<Struck>;
}

const ours: Contender = {
  name: 'ours, fallback',
  budgetsBeside: 1,
  flight: 256,
  direct: true,
  async make(server) {
    const client = new Redis({ ...server, lazyConnect: true });
    client.on('error', () => undefined);
    const store = redisStore(client, { onWarning: () => undefined });
    const limiter = createLimiter({
      name: 'api',
      store,
      limits: { one: fixedWindow({ limit: LIMIT, window: '1d', align: 'first-request' }) },
      onStoreFailure: 'fallback',
      fallback: { store: memoryStore({ max: 1_000_000 }), share: 1 },
      storeTimeout: `${DEADLINE_MS}ms`,
      onEvent: () => undefined,
    });
    return {
      async ask(key) {
        const { allowed, decidedBy } = await limiter.consume(key);
        return { allowed, byStore: decidedBy === 'store' };
      },
      async close() {
        await limiter.close();
        await store.close();
        client.disconnect();
      },
    };
  },
};

const flexible: Contender = {
  name: 'rate-limiter-flexible, insurance',
  budgetsBeside: 1,
  flight: 256,
  direct: true,
  async make(server) {
    const client = new Redis({
      ...server,
      commandTimeout: DEADLINE_MS,
      maxRetriesPerRequest: 1,
      enableOfflineQueue: false,
      retryStrategy: () => 100,
    });
    client.on('error', () => undefined);
    await new Promise((resolve) => {
      client.once('ready', resolve);
      setTimeout(resolve, 300);
    });
    const insured = new Set<string>();
    /** Notes which questions it was asked. */
    class Insurance extends RateLimiterMemory {
      override consume(key: string | number, ...rest: [number?, Record<string, unknown>?]) {
        insured.add(String(key));
        return super.consume(key, ...rest);
      }
    }
    const insuranceLimiter = new Insurance({ points: LIMIT, duration: 86_400 });
    const limiter = new RateLimiterRedis({
      storeClient: client,
      points: LIMIT,
      duration: 86_400,
      insuranceLimiter,
      rejectIfRedisNotReady: true,
    });
    return {
      async ask(key) {
        insured.delete(key);
        const byStore = (): boolean => !insured.delete(key);
        try {
          await limiter.consume(key);
          return { allowed: true, byStore: byStore() };
        } catch (refusal) {
          if (refusal instanceof Error) throw refusal;
          return { allowed: false, byStore: byStore() };
        }
      },
      close: async () => client.disconnect(),
    };
  },
};

const upstash: Contender = {
  name: '@upstash/ratelimit, timeout',
  budgetsBeside: 0,
  // With more the stand-in alone takes longer than the deadline.
  flight: 64,
  direct: false,
  async make(server) {
    const rest = await startUpstash(server as { readonly port: number });
    const limiter = upstashLimiter(rest, LIMIT, { timeout: DEADLINE_MS, ephemeralCache: false });
    return {
      async ask(key) {
        const { success, reason } = await limiter.limit(key);
        return { allowed: success, byStore: reason !== 'timeout' };
      },
      close: () => rest.stop(),
    };
  },
};

export const CONTENDERS: readonly Contender[] = [ours, flexible, upstash];
