import { keyOf } from '@limiter/redis-lua';
import { describeStore, type StoreUnderTest } from '@limiter/store-suite';
import { type RedisServer, startRedis } from '@limiter/test-servers';
import { afterAll, beforeAll, describe } from 'vitest';
import { redisStore } from '../src/index.js';
import { bothWays } from './support/asking.js';
import { drivers, type TestClient } from './support/clients.js';
import { assertTidy, dump } from './support/keyspace.js';

const PREFIX = 'suite';

describe.each(bothWays(drivers))('with $name', (driver) => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  async function subject(clock: (() => number) | undefined): Promise<StoreUnderTest> {
    await server.cli('FLUSHALL');
    const clients: TestClient[] = [];
    const open = (now: (() => number) | undefined): ReturnType<typeof redisStore> => {
      const client = driver.connect(server.port);
      clients.push(client);
      return driver.way(redisStore(client.client, { prefix: PREFIX, clock: now }));
    };
    const stores = [open(clock)];
    return {
      store: stores[0] as ReturnType<typeof redisStore>,
      second: (options) => {
        const second = open(clock === undefined ? undefined : options.clock);
        stores.push(second);
        return second;
      },
      dump: () => dump(server),
      damage: async (ledger) => {
        await server.cli('SET', keyOf(ledger, PREFIX), 'no ledger', 'PX', 60_000);
      },
      close: async () => {
        await assertTidy(server, PREFIX);
        for (const store of stores) await store.close();
        for (const client of clients) await client.end();
      },
    };
  }

  const sync = 'an answer from Redis has to be waited for';
  describeStore("redis on the caller's clock", ({ clock }) => subject(clock), {
    capabilities: {
      speed: 'slow',
      unsupported: {
        sync,
        forgetting: 'Redis forgets by its own clock, after at least an hour when the caller brings one',
      },
    },
  });
  // It waits for real time to pass, and what the driver is does not matter to the clock.
  if (driver.name === drivers[0]?.name) {
    describeStore("redis on the server's clock", () => subject(undefined), {
      capabilities: { clock: 'own', speed: 'slow', unsupported: { sync } },
    });
  }
});
