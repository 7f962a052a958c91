import { withDenialMemory } from '@limiter/core';
import { keyOf } from '@limiter/redis-lua';
import { describeStore, type StoreUnderTest } from '@limiter/store-suite';
import { type RedisServer, startRedis } from '@limiter/test-servers';
import { afterAll, beforeAll, describe } from 'vitest';
import { redisStore } from '../src/index.js';
import { drivers, type TestClient } from './support/clients.js';
import { assertTidy, dump } from './support/keyspace.js';

const PREFIX = 'denials';
const LONGEST_MS = 2 ** 31 - 1;
const [driver] = drivers;

/** A denial is believed for as long as it may be, by the clock that the store reads; the second handle has no memory. */
describe('a denial memory before Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  async function subject(clock: () => number): Promise<StoreUnderTest> {
    await server.cli('FLUSHALL');
    const opened: { readonly client: TestClient; readonly store: ReturnType<typeof redisStore> }[] = [];
    const open = (now: () => number): ReturnType<typeof redisStore> => {
      const client = (driver as (typeof drivers)[number]).connect(server.port);
      const store = redisStore(client.client, { prefix: PREFIX, clock: now });
      opened.push({ client, store });
      return store;
    };
    return {
      store: withDenialMemory(open(clock), { staleMs: LONGEST_MS, now: clock }),
      second: (options) => open(options.clock),
      dump: () => dump(server),
      damage: async (ledger) => {
        await server.cli('SET', keyOf(ledger, PREFIX), 'no ledger', 'PX', 60_000);
      },
      close: async () => {
        await assertTidy(server, PREFIX);
        for (const { store } of opened) await store.close();
        for (const { client } of opened) await client.end();
      },
    };
  }

  describeStore("on the caller's clock", ({ clock }) => subject(clock), {
    capabilities: {
      speed: 'slow',
      unsupported: {
        sync: 'an answer from Redis has to be waited for',
        forgetting: 'Redis forgets by its own clock, after at least an hour when the caller brings one',
      },
    },
  });
});
