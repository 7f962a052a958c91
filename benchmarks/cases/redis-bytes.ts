/** Bytes that a ledger takes in Redis, as MEMORY USAGE counts them: key, value and overhead, with names of a usual length. */
import { createLimiter, fixedWindow, slidingWindowLog, tokenBucket } from '@limiter/core';
import { redisStore } from '@limiter/redis';
import { startRedis } from '@limiter/test-servers';
import { Redis } from 'ioredis';
import { emit } from '../harness/emit.js';
import type { Entry, Role } from '../harness/result.js';
import { flexible } from './redis-peers.js';

const AMPLE = 1_000_000;
const server = await startRedis();
const redis = new Redis(server.port, '127.0.0.1');
const store = redisStore(redis);
const LIMITS = {
  fixed: fixedWindow({ limit: AMPLE, window: '1h' }),
  bucket: tokenBucket({ capacity: AMPLE, refill: '100/1m' }),
  log: slidingWindowLog({ limit: AMPLE, window: '1h' }),
} as const;

/** Bytes of everything in the database, which holds the keys of one contender only. */
async function bytes(): Promise<number> {
  let sum = 0;
  for (const key of await redis.keys('*')) sum += Number(await redis.memory('USAGE', key, 'SAMPLES', 0));
  return sum;
}

async function fresh<T>(fill: () => Promise<T>): Promise<readonly [bytes: number, made: T]> {
  await redis.flushdb();
  const made = await fill();
  return [await bytes(), made];
}

function limiterOf(limit: keyof typeof LIMITS) {
  const limits: Record<string, (typeof LIMITS)[keyof typeof LIMITS]> = { user: LIMITS[limit] };
  return createLimiter({ name: 'api', store, limits, onStoreFailure: 'throw', storeTimeout: '10s' });
}

async function charge(limit: keyof typeof LIMITS, times: number): Promise<string[]> {
  const limiter = limiterOf(limit);
  const receipts: string[] = [];
  for (let i = 0; i < times; i += 1) receipts.push((await limiter.consume('user:17')).receipt as string);
  return receipts;
}

const entries: Entry[] = [];
const note = (name: string, value: number, role: Role = 'ours'): void =>
  void entries.push({ name, role, samples: [value] });

note('fixed window', (await fresh(() => charge('fixed', 5)))[0]);
note('token bucket', (await fresh(() => charge('bucket', 5)))[0]);
for (const count of [1, 100, 128]) {
  note(`sliding log of ${count}, an entry`, (await fresh(() => charge('log', count)))[0] / count);
}
const [large, receipts] = await fresh(() => charge('log', 1_000));
note('sliding log of 1,000, an entry', large / 1_000);
const limiter = limiterOf('log');
const refunded = receipts.filter((_, i) => i % 4 === 1);
for (const receipt of refunded) await limiter.refund(receipt);
note('a refund of a log', ((await bytes()) - large) / refunded.length);
note('rate-limiter-flexible', (await fresh(() => flexible(redis, AMPLE)('user:17')))[0], 'peer');
emit({
  id: 'redis bytes',
  title: 'Redis: bytes a ledger, limiter `api`, limit `user`, key `user:17`',
  unit: 'bytes',
  better: 'less',
  entries,
});
await server.stop();
process.exit();
