/** Bytes a ledger as MEMORY USAGE counts them, on a 64-bit server with jemalloc, with names as a limiter makes them. */
import type { Rule } from '@limiter/core';
import { type RedisServer, startRedis } from '@limiter/test-servers';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { keyOf } from '../src/index.js';
import { luaStore } from './support/lua-store.js';
import { asked, bucket, charge, clockWindow, consume, giveBack, log } from './support/steps.js';

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

async function bytesOf(rule: Rule, value = 'd7'): Promise<number> {
  const key = keyOf(charge(rule, value).ledger, 'limiter');
  return Number(await redis.call('MEMORY', 'USAGE', key, 'SAMPLES', '0'));
}

async function fill(rule: Rule, value: string, entries: number): Promise<void> {
  for (let i = 0; i < entries; i += 200) {
    const steps = Array.from({ length: Math.min(200, entries - i) }, () => consume(charge(rule, value)));
    await luaStore(redis).run(steps);
  }
}

it.each([
  ['fixed window', clockWindow(1e6), 128],
  ['token bucket', bucket(1e6), 144],
])('a %s takes at most %3$i bytes', async (_, rule, most) => {
  await luaStore(redis).run([consume(charge(rule)), consume(charge(rule))]);
  expect(await bytesOf(rule)).toBeLessThanOrEqual(most);
});

it('a log takes at most 48 bytes an entry up to 128 entries, and 125 above', async () => {
  const rule = log(1e6);
  await fill(rule, 'small', 128);
  expect((await bytesOf(rule, 'small')) / 128).toBeLessThanOrEqual(48);
  // Redis doubles the set's hash table: between 8 and 16 bytes an entry, and 24 while it moves. Here it is nearly full.
  await fill(rule, 'large', 16_000);
  expect((await bytesOf(rule, 'large')) / 16_000).toBeLessThanOrEqual(125);
});

it('a refund in a large log takes at most 40 bytes', async () => {
  const rule = log(1e6);
  const one = charge(rule, 'refunds', 3);
  const outcomes = await luaStore(redis).run(Array.from({ length: 4_000 }, () => consume(one)));
  const before = await bytesOf(rule, 'refunds');
  // In the order in which receipts are used: mostly the order of the charges, with some that come late.
  const late = outcomes.slice(0, 3_000).filter((_, i) => i % 3 === 0);
  for (const [i, outcome] of late.entries()) {
    const adjustments = [giveBack(one, asked(outcome).verdicts[0]!, 1 + (i % 2))];
    await luaStore(redis).run([{ op: 'adjust', adjustments }]);
  }
  expect(((await bytesOf(rule, 'refunds')) - before) / late.length).toBeLessThanOrEqual(40);
});
