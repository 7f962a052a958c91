/** No key without a time to live, none too short or too long, none outside the prefix. */
import { type Rule, ruleGrid } from '@limiter/core';
import { type RedisServer, startRedis } from '@limiter/test-servers';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { keyOf } from '../src/index.js';
import { playHistory } from './support/history.js';
import { playLogHistory } from './support/log-history.js';
import { type LuaStoreOptions, luaStore } from './support/lua-store.js';
import { asked, bucket, charge, clockWindow, consume, giveBack, log, peek } from './support/steps.js';

let server: RedisServer;
let redis: Redis;

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.port, '127.0.0.1');
});

afterEach(() => redis.flushall());

afterAll(async () => {
  await redis.quit();
  await server.stop();
});

const SLACK_MS = 5_000;
const rules: readonly (readonly [string, Rule, number])[] = [
  ['fixed window', clockWindow(10_000, 4_000), 4_000],
  ['fixed window from the first request', { ...clockWindow(10_000, 4_000), align: 'first-request' } as Rule, 4_000],
  ['token bucket', bucket(10_000, 4_000), 4_000],
  ['sliding log', log(10_000, 4_000), 4_000],
];

describe.each(rules)('the key of a %s', (_, rule, fullMs) => {
  const key = keyOf({ name: 'uploads/device', grid: ruleGrid(rule), values: ['d7'] }, 'limiter');

  it('lives at least 5 s longer than its budget needs, and at most twice as long and 5 s', async () => {
    const store = luaStore(redis);
    for (const cost of [1, 10, 100, 5_000, 1, 1, 4_000, 1]) {
      const [outcome] = await store.run([consume(charge(rule, 'd7', cost))]);
      const { resetAfterMs } = asked(outcome).verdicts[0]!;
      const ttl = await redis.pttl(key);
      // A few ms pass between the two calls.
      expect(ttl).toBeGreaterThan(resetAfterMs + SLACK_MS - 100);
      expect(ttl).toBeLessThanOrEqual(2 * fullMs + SLACK_MS);
    }
  });

  it('is not renewed by every charge', async () => {
    const store = luaStore(redis);
    await store.run([consume(charge(rule))]);
    const before = await redis.pttl(key);
    await new Promise((resolve) => setTimeout(resolve, 60));
    await store.run([consume(charge(rule))]);
    // A window on the clock, or a log, may have passed a boundary just now; then another charge tells.
    if ((await redis.pttl(key)) > before - 50) {
      await new Promise((resolve) => setTimeout(resolve, 60));
      await store.run([consume(charge(rule))]);
    }
    expect(await redis.pttl(key)).toBeLessThanOrEqual(2 * fullMs + SLACK_MS - 50);
  });

  it("lives an hour at least on the caller's clock, from each charge on", async () => {
    const store = luaStore(redis, { mode: 'caller', clock: () => 1_000_000 });
    await store.run([consume(charge(rule))]);
    await redis.pexpire(key, 1_000);
    await store.run([consume(charge(rule), charge(bucket(5), 'd8'))]);
    expect(await redis.pttl(key)).toBeGreaterThan(3_599_000);
    expect(await redis.pttl(key)).toBeLessThanOrEqual(3_600_000);
  });

  it('does not come into being by a peek, a refusal, cost 0 or a refund', async () => {
    const store = luaStore(redis);
    const other = charge(rule, 'd8');
    const [verdict] = asked((await store.run([consume(other)]))[0]).verdicts;
    await store.run([{ op: 'reset', ledgers: [other.ledger] }]);
    await store.run([
      peek(charge(rule)),
      consume(charge(rule, 'd7', 20_000)),
      consume(charge(rule, 'd7', 0)),
      { op: 'adjust', adjustments: [giveBack(other, verdict!)] },
    ]);
    expect(await redis.dbsize()).toBe(0);
  });

  it('goes with the last one of its budget: a refund of the only charge keeps its time to live', async () => {
    const store = luaStore(redis);
    const one = charge(rule, 'd7', 3);
    const [verdict] = asked((await store.run([consume(one)]))[0]).verdicts;
    await store.run([{ op: 'adjust', adjustments: [giveBack(one, verdict!)] }]);
    expect(await redis.pttl(key)).toBeGreaterThan(0);
  });
});

it('a bucket whose refill became slower lives as long as the slower one needs', async () => {
  const store = luaStore(redis);
  const fast: Rule = { algorithm: 'token-bucket', capacity: 100, refillTokens: 100, refillMs: 1_000 };
  const slow: Rule = { ...fast, refillTokens: 1 };
  await store.run([consume(charge(fast, 'd7', 50))]);
  await store.run([consume(charge(slow, 'd7', 50))]);
  const key = keyOf(charge(fast).ledger, 'limiter');
  expect(await redis.pttl(key)).toBeGreaterThan(99_000 + SLACK_MS - 1_000);
});

it('a bucket among others, alone in its call, lives as long as the slower refill needs', async () => {
  const store = luaStore(redis);
  const fast: Rule = { algorithm: 'token-bucket', capacity: 100, refillTokens: 100, refillMs: 1_000 };
  const both = (rule: Rule) => consume(charge(clockWindow(1_000)), charge(rule));
  await store.run(Array.from({ length: 60 }, () => both(fast)));
  await store.run([both({ ...fast, refillTokens: 1 })]);
  const key = keyOf(charge(fast).ledger, 'limiter');
  expect(await redis.pttl(key)).toBeGreaterThan(50_000 + SLACK_MS);
});

it('a log that is charged all the time is renewed in each window', async () => {
  const store = luaStore(redis);
  const rule = log(1_000, 50);
  for (let i = 0; i < 20; i += 1) {
    expect(await store.run([consume(charge(rule))])).toMatchObject([{ ok: true, allowed: true }]);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(await redis.pttl(keyOf(charge(rule).ledger, 'limiter'))).toBeGreaterThan(SLACK_MS);
});

it('after random histories every key has a time to live, and none lies outside the prefix', {
  timeout: 60_000,
}, async () => {
  const storeOf = (options: LuaStoreOptions) => luaStore(redis, options);
  for (let seed = 0; seed < 20; seed += 1) {
    await playHistory({ storeOf, prefix: 'here', calls: 40, seed });
    await playLogHistory({ storeOf, prefix: 'here', calls: 20, seed });
    for (const key of await redis.keys('*')) {
      expect(key.startsWith('here:{')).toBe(true);
      expect(await redis.pttl(key), key).toBeGreaterThan(0);
    }
    await redis.flushall();
  }
});
