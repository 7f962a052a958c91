/** One hot key, or many, in this process: a full decision beside a boolean (`limiter`), a counter, and a Map by hand. */
import { createLimiter, tokenBucket } from '@limiter/core';
import { memoryStore } from '@limiter/memory';
import { MemoryStore } from 'express-rate-limit';
import { TokenBucket } from 'limiter';
import { RateLimiterMemory, RateLimiterUnion } from 'rate-limiter-flexible';
import { emit } from '../harness/emit.js';
import { type Contender, race } from '../harness/race.js';
import { part } from '../harness/settings.js';

const AMPLE = 1_000_000_000;
const HOUR_MS = 3_600_000;
const PLENTY = part.startsWith('random') ? 100_000 : 1;
const KEYS: readonly string[] = Array.from({ length: PLENTY }, (_, i) => `user:${i}`);
/** A fixed disorder: drawing a number a call would be part of what is measured. */
const ORDER = Uint32Array.from({ length: 65_536 }, () => Math.floor(Math.random() * PLENTY));
const denied = part.endsWith('denied');
const three = part.startsWith('three');
const asynchronous = part.startsWith('async');
const budget = denied ? 1 : AMPLE;

function wrong(): never {
  throw new Error(`${part}: a call was answered the other way`);
}

function ours(): Contender {
  const limit = tokenBucket({ capacity: budget, refill: denied ? '1/1h' : '10/1h' });
  const limits: Record<string, typeof limit> = three ? { a: limit, b: limit, c: limit } : { a: limit };
  const limiter = createLimiter({ name: 'api', store: memoryStore({ max: 1_000_000 }), limits });
  if (denied) limiter.consumeSync('user:0');
  const run = asynchronous
    ? async (calls: number): Promise<void> => {
        for (let i = 0; i < calls; i += 1) {
          const { allowed } = await limiter.consume(KEYS[ORDER[i & 65_535] as number] as string);
          if (allowed === denied) wrong();
        }
      }
    : (calls: number): void => {
        for (let i = 0; i < calls; i += 1) {
          if (limiter.consumeSync(KEYS[ORDER[i & 65_535] as number] as string).allowed === denied) wrong();
        }
      };
  return { name: 'ours', role: 'ours', run };
}

function bucketOf(): TokenBucket {
  const make = (parentBucket?: TokenBucket): TokenBucket => {
    const options = { bucketSize: budget, tokensPerInterval: denied ? 1 : AMPLE, interval: HOUR_MS };
    const bucket = new TokenBucket(parentBucket === undefined ? options : { ...options, parentBucket });
    bucket.content = budget;
    return bucket;
  };
  return three ? make(make(make())) : make();
}

function tokenBucketPeer(): Contender {
  const buckets = new Map(KEYS.map((key) => [key, bucketOf()]));
  if (denied) buckets.get('user:0')?.tryRemoveTokens(1);
  return {
    name: 'limiter',
    role: 'peer',
    run(calls) {
      for (let i = 0; i < calls; i += 1) {
        const key = KEYS[ORDER[i & 65_535] as number] as string;
        if (buckets.get(key)?.tryRemoveTokens(1) === denied) wrong();
      }
    },
  };
}

function flexible(): Contender {
  const make = (keyPrefix: string): RateLimiterMemory =>
    new RateLimiterMemory({ keyPrefix, points: budget, duration: 3_600 });
  const limiter = three ? new RateLimiterUnion(make('a'), make('b'), make('c')) : make('a');
  return {
    name: three ? 'rate-limiter-flexible, union' : 'rate-limiter-flexible',
    role: 'peer',
    async run(calls) {
      for (let i = 0; i < calls; i += 1) {
        try {
          await limiter.consume(KEYS[ORDER[i & 65_535] as number] as string, 1);
        } catch (refusal) {
          if (!denied) throw refusal;
        }
      }
    },
  };
}

function expressStore(): Contender {
  const store = new MemoryStore();
  store.init({ windowMs: HOUR_MS } as Parameters<MemoryStore['init']>[0]);
  return {
    name: 'express-rate-limit MemoryStore',
    role: 'peer',
    async run(calls) {
      for (let i = 0; i < calls; i += 1) {
        const { totalHits } = await store.increment(KEYS[ORDER[i & 65_535] as number] as string);
        if (totalHits < 1) wrong();
      }
    },
  };
}

interface Row {
  used: number;
  ends: number;
}

function floor(): Contender {
  const tables = (three ? [0, 1, 2] : [0]).map(() => new Map<string, Row>());
  const check = (key: string): boolean => {
    const now = Date.now();
    for (const table of tables) {
      const row = table.get(key);
      if (row !== undefined && now < row.ends && row.used >= budget) return false;
    }
    for (const table of tables) {
      const row = table.get(key);
      if (row === undefined) table.set(key, { used: 1, ends: now + HOUR_MS });
      else if (now < row.ends) row.used += 1;
      else {
        row.used = 1;
        row.ends = now + HOUR_MS;
      }
    }
    return true;
  };
  check('user:0');
  return {
    name: 'a Map by hand',
    role: 'floor',
    run(calls) {
      for (let i = 0; i < calls; i += 1) if (check(KEYS[ORDER[i & 65_535] as number] as string) === denied) wrong();
    },
  };
}

let last = 0;
const clock: Contender = {
  name: 'Date.now alone',
  role: 'info',
  run(calls) {
    for (let i = 0; i < calls; i += 1) last = Date.now();
    if (last === 0) wrong();
  },
};

const what = three
  ? 'three limits in one decision'
  : PLENTY > 1
    ? '100,000 keys in disorder'
    : 'one hot key, one limit';
const contenders = [ours(), tokenBucketPeer(), flexible(), ...(three ? [] : [expressStore()]), floor(), clock];
emit(
  await race(
    {
      id: `memory ${part}`,
      title: `Memory: ${what}, ${asynchronous ? 'async' : 'sync'}, ${denied ? 'denied' : 'allowed'}`,
      ...(denied && !three ? { note: 'express-rate-limit counts on and leaves the verdict to its middleware.' } : {}),
    },
    contenders,
    { rounds: 51, roundMs: 8 },
  ),
);
process.exit(0);
