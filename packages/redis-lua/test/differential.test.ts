/** Random histories: the Lua program and core's own algorithms give the same numbers. scripts/differential.ts plays them for as long as asked. */
import { type RedisServer, startRedis } from '@limiter/test-servers';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { script } from '../src/index.js';
import { type HistoryOptions, playHistory } from './support/history.js';
import { playLogHistory } from './support/log-history.js';
import { type LuaStoreOptions, luaStore } from './support/lua-store.js';

let server: RedisServer;
let redis: Redis;

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.port, '127.0.0.1');
});

afterAll(async () => {
  await redis.quit();
  await server.stop();
});

type Play = (options: HistoryOptions) => Promise<number>;

/** Plays histories of random seeds until `steps` were compared; a failure names its seed. */
async function playUntil(steps: number, play: Play, change: LuaStoreOptions = {}): Promise<number> {
  let compared = 0;
  let histories = 0;
  const storeOf = (options: LuaStoreOptions) => luaStore(redis, { ...options, ...change });
  const property = fc.asyncProperty(fc.integer({ min: 0, max: 2 ** 31 - 1 }), async (seed) => {
    if (compared >= steps) return;
    histories += 1;
    compared += await play({ storeOf, prefix: `${play.name}${histories}`, calls: 60, seed });
  });
  await fc.assert(property, { numRuns: 10_000, endOnFailure: true });
  await redis.flushall();
  return compared;
}

it('twenty-four thousand random steps on one to five limits answer as core does, every number', {
  timeout: 60_000,
}, async () => {
  expect(await playUntil(24_000, playHistory)).toBeGreaterThanOrEqual(24_000);
});

it('twelve thousand random steps on logs of thousands of entries answer as core does', {
  timeout: 60_000,
}, async () => {
  expect(await playUntil(12_000, playLogHistory)).toBeGreaterThanOrEqual(12_000);
});

// The comparison itself is tried: a program with one wrong character must not get through.
it.each([
  ['a bucket that admits one unit of debt less', 'level <= most', 'level < most'],
  ['a window that ends one ms late', 'now - a < rate', 'now - a <= rate'],
  ['a log that keeps an entry one ms too long', 'at - windowMs + 1, 0', 'at - windowMs, 0'],
  ['a step back that is waited for 1 ms too long', 'a - now <= 2000', 'a - now <= 2001'],
  [
    'a refund that forgets what was given back before',
    'or 0)\nend\nend\nfunction refundLog',
    'and 0 or 0)\nend\nend\nfunction refundLog',
  ],
])('notices %s', { timeout: 60_000 }, async (_, right, wrong) => {
  expect(script).toContain(right);
  const source = script.replaceAll(right, wrong);
  const play = right.includes('refundLog') ? playLogHistory : playHistory;
  await expect(playUntil(50_000, play, { source })).rejects.toThrow(/seed/);
});
