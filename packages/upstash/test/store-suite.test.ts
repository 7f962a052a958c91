import { keyOf } from '@limiter/redis-lua';
import { describeStore, type StoreUnderTest } from '@limiter/store-suite';
import { type RedisServer, startRedis, startUpstash, type UpstashServer } from '@limiter/test-servers';
import { Redis } from '@upstash/redis';
import { afterAll, beforeAll } from 'vitest';
import { upstashStore } from '../src/index.js';
import { dump } from './support/ledgers.js';

const PREFIX = 'suite';
let server: RedisServer;
let upstash: UpstashServer;
beforeAll(async () => {
  server = await startRedis();
  upstash = await startUpstash(server);
});
afterAll(async () => {
  await upstash.stop();
  await server.stop();
});

async function subject(clock: (() => number) | undefined): Promise<StoreUnderTest> {
  await server.cli('FLUSHALL');
  const { url, token } = upstash;
  return {
    store: upstashStore(new Redis({ url, token }), { prefix: PREFIX, clock }),
    second: (options) =>
      upstashStore({ url, token }, { prefix: PREFIX, clock: clock === undefined ? undefined : options.clock }),
    dump: () => dump(server),
    damage: async (ledger) => {
      await server.cli('SET', keyOf(ledger, PREFIX), 'no ledger', 'PX', 60_000);
    },
    close: () => undefined,
  };
}

const sync = 'an answer over HTTP has to be waited for';
describeStore("upstash on the caller's clock", ({ clock }) => subject(clock), {
  capabilities: {
    speed: 'slow',
    unsupported: {
      sync,
      forgetting: 'Redis forgets by its own clock, after at least an hour when the caller brings one',
    },
  },
});
describeStore("upstash on the server's clock", () => subject(undefined), {
  capabilities: { clock: 'own', speed: 'slow', unsupported: { sync } },
});
