/** A million keys: bytes a key beyond the key strings, and how long a full collection then takes. One contender a process. */
import { createLimiter, fixedWindow, tokenBucket } from '@limiter/core';
import { memoryStore } from '@limiter/memory';
import { MemoryStore } from 'express-rate-limit';
import { TokenBucket } from 'limiter';
import { RateLimiterMemory, RateLimiterUnion } from 'rate-limiter-flexible';
import { emit } from '../harness/emit.js';
import type { Role } from '../harness/result.js';
import { part, quick } from '../harness/settings.js';

const COUNT = quick ? 10_000 : 1_000_000;

interface Filler {
  readonly role: Role;
  readonly limits: 1 | 3;
  /** Asks once for each key; what it answers is kept alive. */
  readonly fill: (keys: readonly string[]) => Promise<unknown>;
}

function ours(limit: ReturnType<typeof fixedWindow> | ReturnType<typeof tokenBucket>, limits: 1 | 3): Filler {
  return {
    role: 'ours',
    limits,
    async fill(keys) {
      const named: Record<string, typeof limit> = limits === 1 ? { a: limit } : { a: limit, b: limit, c: limit };
      const limiter = createLimiter({ name: 'api', store: memoryStore({ max: COUNT }), limits: named });
      for (const key of keys) limiter.consumeSync(key);
      return limiter;
    },
  };
}

function flexible(limits: 1 | 3): Filler {
  return {
    role: 'peer',
    limits,
    async fill(keys) {
      const make = (keyPrefix: string) => new RateLimiterMemory({ keyPrefix, points: 100, duration: 3_600 });
      const limiter = limits === 1 ? make('a') : new RateLimiterUnion(make('a'), make('b'), make('c'));
      for (const key of keys) await limiter.consume(key, 1);
      return limiter;
    },
  };
}

const window = fixedWindow({ limit: 100, window: '1h' });
const bucket = tokenBucket({ capacity: 100, refill: '100/1h' });

const FILLERS: Readonly<Record<string, Filler>> = {
  'ours, one window': ours(window, 1),
  'ours, one bucket': ours(bucket, 1),
  'ours, three windows': ours(window, 3),
  'ours, three buckets': ours(bucket, 3),
  'rate-limiter-flexible': flexible(1),
  'rate-limiter-flexible, union of 3': flexible(3),
  'express-rate-limit MemoryStore': {
    role: 'peer',
    limits: 1,
    async fill(keys) {
      const store = new MemoryStore();
      store.init({ windowMs: 3_600_000 } as Parameters<MemoryStore['init']>[0]);
      for (const key of keys) await store.increment(key);
      return store;
    },
  },
  'limiter, a TokenBucket a key': {
    role: 'peer',
    limits: 1,
    async fill(keys) {
      const map = new Map<string, TokenBucket>();
      for (const key of keys) {
        const made = new TokenBucket({ bucketSize: 100, tokensPerInterval: 100, interval: 3_600_000 });
        made.tryRemoveTokens(1);
        map.set(key, made);
      }
      return map;
    },
  },
  'a Map by hand': {
    role: 'floor',
    limits: 1,
    fill: async (keys) => new Map(keys.map((key) => [key, { used: 1, ends: Date.now() + 3_600_000 }])),
  },
};

function collect(): void {
  if (globalThis.gc === undefined) throw new Error('run with --expose-gc');
  globalThis.gc();
}

function bytes(): number {
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function collectionMs(): number[] {
  return Array.from({ length: 7 }, () => {
    const began = performance.now();
    collect();
    return performance.now() - began;
  });
}

const filler = FILLERS[part];
if (filler === undefined) throw new Error(`no such contender: ${part}`);
const keys = Array.from({ length: COUNT }, (_, i) => `user:${i}`);
const before = bytes();
const kept = await filler.fill(keys);
const after = bytes();
const several = filler.limits === 3 ? 'three limits' : 'one limit';
const entry = (samples: readonly number[]) => [{ name: part, role: filler.role, samples }];
emit({
  id: `bytes ${several}`,
  title: `Memory: bytes a key beyond the key string, 1,000,000 keys, ${several}`,
  unit: 'bytes a key',
  better: 'less',
  entries: entry([(after - before) / COUNT]),
});
emit({
  id: `gc ${several}`,
  title: `Memory: a full collection with 1,000,000 keys, ${several}`,
  unit: 'ms',
  better: 'less',
  entries: entry(collectionMs()),
  note: 'By the clock on the wall, of a heap that also holds the million key strings.',
});
process.exitCode = kept === undefined ? 1 : 0;
process.exit();
