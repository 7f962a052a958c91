import { createLimiter, fixedWindow, slidingWindowLog, tokenBucket } from '@limiter/core';
import { type RedisServer, startRedis } from '@limiter/test-servers';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { redisStore } from '../src/index.js';

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => server.stop());

it.each([
  ['fixed window', fixedWindow({ limit: 10, window: '10m', align: 'first-request' })],
  ['sliding window log', slidingWindowLog({ limit: 10, window: '10m' })],
  ['token bucket', tokenBucket({ capacity: 10, refill: '10/10h' })],
] as const)(
  'two nodes whose clocks are an hour apart admit 10 of 20, not 20: the clock of the server decides (%s)',
  async (name, user) => {
    const client = new Redis(server.port, '127.0.0.1');
    const nodes = [0, 3_600_000].map((aheadMs) => {
      const store = redisStore(client, { prefix: name });
      const limiter = createLimiter({
        name: 'api',
        store,
        limits: { user },
        onStoreFailure: 'throw',
        storeTimeout: '5s',
      });
      return { store, limiter, aheadMs };
    });
    const { now } = Date;
    let admitted = 0;
    for (let call = 0; call < 20; call += 1) {
      const { limiter, aheadMs } = nodes[call % 2] as (typeof nodes)[number];
      vi.spyOn(Date, 'now').mockImplementation(() => now() + aheadMs);
      if ((await limiter.consume('u')).allowed) admitted += 1;
    }
    expect(admitted).toBe(10);
    for (const { store } of nodes) await store.close();
    client.disconnect();
  },
);
