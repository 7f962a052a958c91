/**
 * Is what is fast also right? 300 calls at once on a limit of 100; 20 calls of cost 7 at once on 100 (14 fit: 98), after which
 * a cost of 2 still fits because no refusal was charged. For us and for each rival, in memory, in SQLite and in Redis.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLimiter, fixedWindow, type Store, slidingWindowLog, tokenBucket } from '@limiter/core';
import { memoryStore } from '@limiter/memory';
import { redisStore } from '@limiter/redis';
import { sqliteStore } from '@limiter/sqlite';
import { startRedis, startUpstash } from '@limiter/test-servers';
import { upstashStore } from '@limiter/upstash';
import { MemoryStore } from 'express-rate-limit';
import { Redis } from 'ioredis';
import { TokenBucket } from 'limiter';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { emit } from '../harness/emit.js';
import type { Entry, Role } from '../harness/result.js';
import { type Ask, asVerdict, asyncRatelimiter, expressRedis, flexible, upstash } from './redis-peers.js';

interface Subject {
  readonly name: string;
  readonly role: Role;
  readonly ask: Ask;
  /** It has a notion of cost. */
  readonly weighted: boolean;
}

const LIMIT = 100;
const server = await startRedis();
const redis = new Redis(server.port, '127.0.0.1');
const rest = await startUpstash(server);
const folder = mkdtempSync(join(tmpdir(), 'limiter-exact-'));

const LIMITS = {
  'fixed window': fixedWindow({ limit: LIMIT, window: '1d', align: 'first-request' }),
  'sliding log': slidingWindowLog({ limit: LIMIT, window: '1h' }),
  'token bucket': tokenBucket({ capacity: LIMIT, refill: '1/1d' }),
} as const;

function ours(where: string, store: Store): Subject[] {
  return Object.entries(LIMITS).map(([algorithm, limit]) => {
    const limits: Record<string, typeof limit> = { one: limit };
    const name = `exact-${algorithm.replace(' ', '-')}`;
    const limiter = createLimiter({ name, store, limits, onStoreFailure: 'throw', storeTimeout: '30s' });
    const ask: Ask = async (key, cost = 1) => (await limiter.consume(key, { cost })).allowed;
    return { name: `ours, ${where}, ${algorithm}`, role: 'ours', ask, weighted: true };
  });
}

function bucketPeer(): Ask {
  const buckets = new Map<string, TokenBucket>();
  return async (key, cost = 1) => {
    let bucket = buckets.get(key);
    if (bucket === undefined) {
      bucket = new TokenBucket({ bucketSize: LIMIT, tokensPerInterval: 1, interval: 86_400_000 });
      bucket.content = LIMIT;
      buckets.set(key, bucket);
    }
    return bucket.tryRemoveTokens(cost);
  };
}

function expressMemory(): Ask {
  const store = new MemoryStore();
  store.init({ windowMs: 3_600_000 } as Parameters<MemoryStore['init']>[0]);
  return async (key) => (await store.increment(key)).totalHits <= LIMIT;
}

const memoryFlexible = new RateLimiterMemory({ points: LIMIT, duration: 3_600 });
const peer = (name: string, ask: Ask, weighted = true): Subject => ({ name, role: 'peer', ask, weighted });
const subjects: readonly Subject[] = [
  ...ours('memory', memoryStore()),
  ...ours('SQLite', sqliteStore(join(folder, 'exact.db'))),
  ...ours('Redis', redisStore(redis)),
  ...ours('Upstash', upstashStore({ url: rest.url, token: rest.token }, { prefix: 'rest' })),
  peer('limiter, memory', bucketPeer()),
  peer(
    'rate-limiter-flexible, memory',
    asVerdict((key, cost) => memoryFlexible.consume(key, cost)),
  ),
  peer('rate-limiter-flexible, Redis', flexible(redis, LIMIT)),
  peer('express-rate-limit, memory', expressMemory(), false),
  peer('rate-limit-redis', expressRedis(redis, LIMIT), false),
  peer('async-ratelimiter, Redis', asyncRatelimiter(redis, LIMIT), false),
  peer('@upstash/ratelimit', upstash(rest, LIMIT)),
];

async function admitted({ ask }: Subject, key: string, calls: number, cost: number): Promise<number> {
  const answers = await Promise.all(Array.from({ length: calls }, () => ask(key, cost)));
  return cost * answers.filter(Boolean).length;
}

const atOnce: Entry[] = [];
const weighted: Entry[] = [];
const after: Entry[] = [];
for (const subject of subjects) {
  const { name, role } = subject;
  atOnce.push({ name, role, samples: [await admitted(subject, 'three-hundred', 300, 1)] });
  if (!subject.weighted) continue;
  weighted.push({ name, role, samples: [await admitted(subject, 'weighted', 20, 7)] });
  after.push({ name, role, samples: [(await subject.ask('weighted', 2)) ? 2 : 0] });
}
const exact = { unit: 'admitted cost', better: 'exact' } as const;
emit({ id: 'exact', title: 'Exact: 300 calls at once on a limit of 100', ...exact, expected: 100, entries: atOnce });
emit({
  id: 'exact weighted',
  title: 'Exact: 20 calls of cost 7 at once on 100',
  ...exact,
  expected: 98,
  entries: weighted,
});
emit({
  id: 'exact after refusals',
  title: 'Exact: then a cost of 2, which fits if no refusal was charged',
  ...exact,
  expected: 2,
  entries: after,
});
await rest.stop();
await server.stop();
rmSync(folder, { recursive: true, force: true });
process.exit();
