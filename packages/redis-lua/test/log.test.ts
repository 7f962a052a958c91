/** What a sliding log keeps, and how little a call touches of it. The answers are compared in differential.test.ts. */
import type { Verdict } from '@limiter/core';
import { type RedisServer, startRedis } from '@limiter/test-servers';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { keyOf } from '../src/index.js';
import { luaStore } from './support/lua-store.js';
import { asked, charge, consume, giveBack, log, peek } from './support/steps.js';

let server: RedisServer;
let redis: Redis;
let now = 0;

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.port, '127.0.0.1');
});

afterEach(() => redis.flushall());

afterAll(async () => {
  await redis.quit();
  await server.stop();
});

const MAX = Number.MAX_SAFE_INTEGER;
const key = (windowMs: number): string => keyOf(charge(log(1, windowMs)).ledger, 'limiter');
const store = () => luaStore(redis, { mode: 'caller', clock: () => now });

async function charged(limit: number, cost: number, windowMs = 1_000): Promise<Verdict> {
  const [verdict] = asked((await store().run([consume(charge(log(limit, windowMs), 'd7', cost))]))[0]).verdicts;
  return verdict as Verdict;
}

it('one charge is one entry, whatever its cost', async () => {
  now = 1_000_000;
  for (const cost of [1, 1_000, 2 ** 40]) await charged(MAX, cost);
  expect(await redis.zcard(key(1_000))).toBe(3);
});

it('what no longer counts leaves a little at a time, and all at once when nothing counts', async () => {
  now = 1_000_000;
  for (let i = 0; i < 10; i += 1) {
    await store().run(Array.from({ length: 100 }, () => consume(charge(log(MAX, 1_000)))));
    now += 10;
  }
  expect(await redis.zcard(key(1_000))).toBe(1_000);
  now = 1_000_000 + 1_080;
  let before = 1_000;
  for (let i = 0; i < 100; i += 1) {
    await charged(MAX, 1);
    const after = await redis.zcard(key(1_000));
    expect(before + 1 - after).toBeLessThanOrEqual(64);
    before = after;
  }
  // 900 had expired; the last 100 of the first thousand, and the new hundred, count.
  expect(before).toBeLessThan(1_000 - 700 + 100);
  now += 10_000;
  await charged(MAX, 1);
  expect(await redis.zcard(key(1_000))).toBe(1);
});

it("on the server's clock a log of which nothing counts any more goes with its last entries, and lives anew", async () => {
  const told = luaStore(redis, { mode: 'told', clock: () => now });
  now = 1_000_000;
  await told.run(Array.from({ length: 1_000 }, () => consume(charge(log(MAX, 1_000)))));
  expect(await redis.zcard(key(1_000))).toBe(1_000);
  await redis.pexpire(key(1_000), 100);
  now += 1_000;
  expect(await told.run([consume(charge(log(10, 1_000), 'd7', 11))])).toMatchObject([{ ok: true, allowed: false }]);
  expect(await redis.zcard(key(1_000))).toBe(1_000);
  expect(await told.run([consume(charge(log(10, 1_000), 'd7', 10))])).toMatchObject([{ ok: true, allowed: true }]);
  expect(await redis.zcard(key(1_000))).toBe(1);
  expect(await redis.pttl(key(1_000))).toBeGreaterThan(6_000);
});

it('a refusal and a peek leave every byte where it is', async () => {
  now = 1_000_000;
  await charged(10, 5);
  const before = await redis.dumpBuffer(key(1_000));
  now += 500;
  await store().run([consume(charge(log(10, 1_000), 'd7', 6)), peek(charge(log(10, 1_000)))]);
  expect(await redis.dumpBuffer(key(1_000))).toEqual(before);
});

it('a step back of the clock rewrites one entry, not all', async () => {
  now = 1_000_000;
  await store().run(Array.from({ length: 200 }, () => consume(charge(log(MAX, 60_000)))));
  const before = await redis.zrangeBuffer(key(60_000), '0', '-1');
  now -= 10_000;
  await charged(0, 1, 60_000);
  const after = await redis.zrangeBuffer(key(60_000), '0', '-1');
  expect(after).toHaveLength(200);
  expect(after.slice(0, 199)).toEqual(before.slice(0, 199));
  expect(after[199]).not.toEqual(before[199]);
});

it('an entry that was given back while it was the newest is gone with the next charge', async () => {
  now = 1_000_000;
  for (let i = 0; i < 50; i += 1) {
    const one = charge(log(10, 1_000), 'd7', 7);
    const verdict = await charged(10, 7);
    expect(verdict.admits).toBe(true);
    await store().run([{ op: 'adjust', adjustments: [giveBack(one, verdict)] }]);
  }
  expect(await redis.zcard(key(1_000))).toBe(1);
});

it('charges of 2^53-1 in one window, given back one by one, never mix up what is used', async () => {
  now = 1_000_000;
  const huge = charge(log(MAX, 60_000), 'd7', MAX - 3);
  const small = charge(log(MAX, 60_000));
  for (let i = 0; i < 20; i += 1) {
    const first = await charged(MAX, MAX - 3, 60_000);
    expect(first.admits).toBe(true);
    // Another entry lies behind it, so that the refund lies apart, and the sum of all that was charged passes 2^53-1.
    const second = await charged(MAX, 1, 60_000);
    expect(second.remaining).toBe(2);
    const adjusted = await store().run([
      { op: 'adjust', adjustments: [giveBack(huge, first), giveBack(small, second)] },
    ]);
    expect(adjusted).toMatchObject([{ adjusted: [{ givenBack: MAX - 3 }, { givenBack: 1 }] }]);
    expect(asked((await store().run([peek(small)]))[0]).verdicts[0]?.remaining).toBe(MAX);
  }
});
