/** The published suite over the plainest store on the Lua program, with a clock that the suite turns and with the server's own. */
import type { Ledger } from '@limiter/core';
import { describeStore, type StoreUnderTest } from '@limiter/store-suite';
import { type RedisServer, startRedis } from '@limiter/test-servers';
import { Redis } from 'ioredis';
import { afterAll, beforeAll } from 'vitest';
import { keyOf } from '../src/index.js';
import { luaStore } from './support/lua-store.js';

let server: RedisServer;
let redis: Redis;
let stores = 0;

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.port, '127.0.0.1');
});

afterAll(async () => {
  await redis.quit();
  await server.stop();
});

/** Every key of the prefix with what it holds, without its time to live. */
async function dump(prefix: string): Promise<string> {
  const keys = (await redis.keys(`${prefix}:*`)).sort();
  const values = await Promise.all(keys.map((key) => redis.dumpBuffer(key)));
  return JSON.stringify(keys.map((key, i) => [key, values[i]?.toString('base64')]));
}

function subject(clock?: () => number): StoreUnderTest {
  stores += 1;
  const prefix = `suite${stores}`;
  return {
    store: luaStore(redis, clock === undefined ? { prefix } : { prefix, clock, mode: 'caller' }),
    second: (options) =>
      luaStore(redis, clock === undefined ? { prefix } : { prefix, clock: options.clock, mode: 'caller' }),
    dump: () => dump(prefix),
    damage: async (ledger: Ledger) => {
      await redis.set(keyOf(ledger, prefix), 'nobody wrote this');
    },
    close: () => {},
  };
}

const sync = 'a script is called over a connection';

describeStore("the Lua program on the caller's clock", ({ clock }) => subject(clock), {
  capabilities: {
    unsupported: {
      sync,
      forgetting: "with a caller clock a key lives for an hour at least by the server's clock, which is not turned",
    },
  },
});
describeStore("the Lua program on the server's clock", () => subject(), {
  capabilities: { clock: 'own', unsupported: { sync } },
});
