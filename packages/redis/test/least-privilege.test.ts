import { createLimiter, fixedWindow, slidingWindowLog, tokenBucket } from '@limiter/core';
import { startRedis } from '@limiter/test-servers';
import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { type RedisWarning, redisStore } from '../src/index.js';

it('a user with few rights is enough: scripts, TIME, INFO, plain data commands, and only keys of the prefix', async () => {
  const rights = '-@all +@connection +evalsha +eval +time +info +@read +@write ~limiter:*';
  const server = await startRedis({ args: `--user app on >secret ${rights}`.split(' ') });
  const client = new Redis({ port: server.port, username: 'app', password: 'secret' });
  const warnings: RedisWarning[] = [];
  const store = redisStore(client, { onWarning: (warning) => warnings.push(warning) });
  try {
    const limiter = createLimiter({
      name: 'api',
      store,
      limits: {
        window: fixedWindow({ limit: 5, window: '1h' }),
        log: slidingWindowLog({ limit: 5, window: '1h' }),
        bucket: tokenBucket({ capacity: 5, refill: '5/1h' }),
      },
      onStoreFailure: 'throw',
      storeTimeout: '5s',
    });
    const { receipt } = await limiter.consume('u1', { cost: 3 });
    await limiter.refund(receipt as string, 1);
    expect((await limiter.consume('u1', { cost: 3 })).allowed).toBe(true);
    expect((await limiter.consume('u1', { cost: 3 })).allowed).toBe(false);
    await limiter.reset('u1');
    expect((await limiter.inspect('u1')).limits.log.remaining).toBe(5);
    expect(warnings).toEqual([]);
  } finally {
    await store.close();
    client.disconnect();
    await server.stop();
  }
});
