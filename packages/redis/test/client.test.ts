import { createLimiter, fixedWindow } from '@limiter/core';
import { memoryStore } from '@limiter/memory';
import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { type RedisStoreClient, redisStore } from '../src/index.js';

it('a client that lacks a method is refused, and the method is named', () => {
  for (const method of ['duplicate', 'connect', 'disconnect', 'on', 'off', 'call', 'callBuffer']) {
    const client = Object.create(new Redis({ lazyConnect: true }), { [method]: { value: undefined } });
    expect(() => redisStore(client as RedisStoreClient), method).toThrow(
      expect.objectContaining({
        code: 'ERR_LIMITER_CLIENT',
        message: expect.stringContaining(`this one has no ${method}()`),
      }),
    );
  }
});

it('a copy of the store with another run is asked by that one', async () => {
  const store = redisStore(new Redis({ lazyConnect: true }));
  const memory = memoryStore();
  let asked = 0;
  const wrapped = {
    ...store,
    run: (steps: Parameters<typeof store.run>[0]) => {
      asked += steps.length;
      return memory.run(steps);
    },
  };
  const limits = { few: fixedWindow({ limit: 1, window: '1d' }) };
  const limiter = createLimiter({ name: 'api', store: wrapped, limits, onStoreFailure: 'throw' });
  expect((await limiter.consume('x')).allowed).toBe(true);
  expect((await limiter.consume('x')).allowed).toBe(false);
  expect(asked).toBe(2);
  await store.close();
});
