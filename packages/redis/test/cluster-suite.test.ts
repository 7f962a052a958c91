import { keyOf } from '@limiter/redis-lua';
import { describeStore, type StoreUnderTest } from '@limiter/store-suite';
import { type RedisCluster, startCluster } from '@limiter/test-servers';
import { afterAll, beforeAll, describe } from 'vitest';
import { type RedisStore, redisStore } from '../src/index.js';
import { clusterDrivers, type TestClient } from './support/clients.js';
import { assertTidy, dump } from './support/keyspace.js';

const PREFIX = 'suite';

describe.each(clusterDrivers)('with $name', (driver) => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startCluster();
  }, 60_000);
  afterAll(() => cluster.stop());

  async function subject(clock: () => number): Promise<StoreUnderTest> {
    const masters = cluster.servers.slice(0, 3);
    for (const master of masters) await master.cli('FLUSHALL');
    const clients: TestClient[] = [];
    const stores: RedisStore[] = [];
    const open = (now: () => number): RedisStore => {
      const client = driver.connect(cluster.nodes);
      const store = redisStore(client.client, { prefix: PREFIX, clock: now });
      clients.push(client);
      stores.push(store);
      return store;
    };
    return {
      store: open(clock),
      second: (options) => open(options.clock),
      dump: async () => (await Promise.all(masters.map(dump))).join('\n'),
      damage: async (ledger) => {
        const key = keyOf(ledger, PREFIX);
        const master = await cluster.masterOf(await cluster.slotOf(key));
        await master.cli('SET', key, 'no ledger', 'PX', 60_000);
      },
      close: async () => {
        for (const master of masters) await assertTidy(master, PREFIX);
        for (const store of stores) await store.close();
        for (const client of clients) await client.end();
      },
    };
  }

  describeStore("a redis cluster on the caller's clock", ({ clock }) => subject(clock), {
    capabilities: {
      speed: 'slow',
      unsupported: {
        sync: 'an answer from Redis has to be waited for',
        forgetting: 'Redis forgets by its own clock, after at least an hour when the caller brings one',
        'several-slots': 'a step whose ledgers lie in several slots is a mistake (ERR_LIMITER_CROSS_SLOT)',
      },
    },
  });
});
