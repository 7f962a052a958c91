import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AskOutcome,
  type AskStep,
  createLimiter,
  fixedWindow,
  type LimiterError,
  ruleGrid,
  slidingWindowLog,
  tokenBucket,
} from '@limiter/core';
import {
  type RedisCluster,
  type RedisServer,
  startCluster,
  startProxy,
  type TcpProxy,
  until,
} from '@limiter/test-servers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type RedisStore, type RedisStoreOptions, redisStore } from '../src/index.js';
import { clusterDrivers, type TestClient } from './support/clients.js';
import { assertTidy } from './support/keyspace.js';

const PREFIX = 'cl';

describe.each(clusterDrivers)('with $name', (driver) => {
  let cluster: RedisCluster;
  let client: TestClient;
  const stores: RedisStore[] = [];

  beforeAll(async () => {
    cluster = await startCluster();
  }, 60_000);
  afterAll(() => cluster.stop());
  beforeEach(async () => {
    for (const server of masters()) await server.cli('FLUSHALL');
    client = driver.connect(cluster.nodes);
  });
  afterEach(async () => {
    for (const server of masters()) await assertTidy(server, PREFIX);
    for (const store of stores.splice(0)) await store.close();
    await client.end();
  });

  const masters = (): readonly RedisServer[] => cluster.servers.slice(0, 3);
  function store(options: RedisStoreOptions = {}): RedisStore {
    const made = redisStore(client.client, { prefix: PREFIX, ...options });
    stores.push(made);
    return made;
  }
  function byDeviceAndOrg(options: RedisStoreOptions & { readonly hashTag?: string; readonly org?: number }) {
    const { hashTag, org = 5, ...rest } = options;
    return createLimiter({
      name: 'uploads',
      store: store(rest),
      limits: {
        device: slidingWindowLog({ by: 'device', limit: 100, window: '1h' }),
        org: tokenBucket({ by: 'org', capacity: org, refill: '1/30d' }),
      },
      onStoreFailure: 'throw',
      storeTimeout: '5s',
      ...(hashTag === undefined ? {} : { hashTag: hashTag as 'org' }),
    });
  }
  /** Where the key of a subject lies, as the store writes it. */
  const slotOf = (value: string): Promise<number> => cluster.slotOf(`${PREFIX}:{${value}}`);

  it('ledgers in several slots are a mistake, told at the first call, before anything is sent', async () => {
    const error = await byDeviceAndOrg({})
      .consume({ device: 'd1', org: 'o1' })
      .catch((reason: unknown) => reason);
    expect((error as LimiterError).code).toBe('ERR_LIMITER_CROSS_SLOT');
    expect((error as LimiterError).message).toMatch(
      /uploads\/device in slot \d+ and uploads\/org in slot \d+.*hashTag/,
    );
    for (const server of masters()) expect(await server.cli('DBSIZE')).toBe(0);
  });

  it('a hash tag puts a device and its organisation into one slot, and the decision is atomic', async () => {
    const limiter = byDeviceAndOrg({ hashTag: 'org' });
    const decisions = await Promise.all(
      Array.from({ length: 20 }, (_, i) => limiter.consume({ device: `d${i}`, org: 'o1' })),
    );
    expect(decisions.filter(({ allowed }) => allowed).length).toBe(5);
    expect(decisions.every(({ atomic }) => atomic)).toBe(true);
    const sizes = await Promise.all(masters().map(async (server) => Number(await server.cli('DBSIZE'))));
    expect(sizes.filter((size) => size > 0)).toEqual([6]);
  });

  it('the calls of one tick go to the servers of their slots, each answered for itself', async () => {
    const limiter = createLimiter({
      name: 'api',
      store: store(),
      limits: { user: fixedWindow({ limit: 2, window: '30d', align: 'first-request' }) },
      onStoreFailure: 'throw',
      storeTimeout: '5s',
    });
    const users = Array.from({ length: 300 }, (_, i) => `u${i % 100}`);
    const decisions = await Promise.all(users.map((user) => limiter.consume(user)));
    expect(decisions.filter(({ allowed }) => allowed).length).toBe(200);
    const sizes = await Promise.all(masters().map(async (server) => Number(await server.cli('DBSIZE'))));
    expect(sizes.every((size) => size > 0)).toBe(true);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(100);
  });

  describe("crossSlot: 'give-back'", () => {
    it('a call that both slots admit is charged in both, and says that it is not atomic', async () => {
      const limiter = byDeviceAndOrg({ crossSlot: 'give-back' });
      const decision = await limiter.consume({ device: 'd1', org: 'o1' }, { cost: 2 });
      expect(decision).toMatchObject({ allowed: true, atomic: false });
      expect(decision.limits.device).toMatchObject({ remaining: 98, charged: 2 });
      expect(decision.limits.org).toMatchObject({ remaining: 3, charged: 2 });
      const status = await limiter.inspect({ device: 'd1', org: 'o1' });
      expect([status.limits.device.remaining, status.limits.org.remaining]).toEqual([98, 3]);
    });

    it('what one slot was charged is given back when another refuses, and the answer shows it', async () => {
      const limiter = byDeviceAndOrg({ crossSlot: 'give-back' });
      const decision = await limiter.consume({ device: 'd1', org: 'o1' }, { cost: 6 });
      expect(decision).toMatchObject({ allowed: false, atomic: false, reason: 'cost-above-limit' });
      expect(decision.limits.device).toMatchObject({ remaining: 100, charged: 0, allowed: true });
      expect(decision.limits.org).toMatchObject({ remaining: 5, charged: 0, allowed: false });
      expect((await limiter.inspect({ device: 'd1', org: 'o1' })).limits.device.remaining).toBe(100);
    });

    it('200 calls at once never pass the limit, and afterwards only what was admitted is charged', async () => {
      const limiter = byDeviceAndOrg({ crossSlot: 'give-back', org: 50 });
      const subjects = Array.from({ length: 200 }, (_, i) => ({ device: `d${i % 7}`, org: 'o1' }));
      const decisions = await Promise.all(subjects.map((subject) => limiter.consume(subject)));
      const admitted = decisions.filter(({ allowed }) => allowed).length;
      expect(admitted).toBe(50);
      let left = 0;
      for (let i = 0; i < 7; i += 1) {
        left += (await limiter.inspect({ device: `d${i}`, org: 'o1' })).limits.device.remaining;
      }
      expect(left).toBe(700 - admitted);
    });

    it('refund, settle and reset reach every slot', async () => {
      const limiter = byDeviceAndOrg({ crossSlot: 'give-back' });
      const subject = { device: 'd1', org: 'o1' };
      const first = await limiter.consume(subject, { cost: 3 });
      expect(await limiter.refund(first.receipt as string, 1, { once: 'everywhere' })).toMatchObject({
        closed: false,
        limits: { device: { givenBack: 1 }, org: { givenBack: 1 } },
      });
      const again = byDeviceAndOrg({ crossSlot: 'give-back' });
      expect(await again.refund(first.receipt as string, 1, { once: 'everywhere' })).toMatchObject({ closed: true });
      const status = await limiter.inspect(subject);
      expect([status.limits.device.remaining, status.limits.org.remaining]).toEqual([98, 3]);
      await limiter.reset(subject);
      const fresh = await limiter.inspect(subject);
      expect([fresh.limits.device.remaining, fresh.limits.org.remaining]).toEqual([100, 5]);
    });

    it('calls that lie in one slot stay atomic', async () => {
      const limiter = byDeviceAndOrg({ crossSlot: 'give-back', hashTag: 'org' });
      expect((await limiter.consume({ device: 'd1', org: 'o1' })).atomic).toBe(true);
    });
  });

  describe('a slot that moves', () => {
    const limiterOf = (limit: number) =>
      createLimiter({
        name: 'api',
        store: store(),
        limits: { user: fixedWindow({ limit, window: '30d', align: 'first-request' }) },
        onStoreFailure: 'throw',
        storeTimeout: '5s',
      });

    it('keeps what was consumed, and costs no failed call (MOVED)', async () => {
      const limiter = limiterOf(10);
      const slot = await slotOf('mover');
      const from = await cluster.masterOf(slot);
      const to = masters().find((server) => server !== from) as RedisServer;
      for (let i = 0; i < 4; i += 1) expect((await limiter.consume('mover')).allowed).toBe(true);
      await cluster.beginMove(slot, to);
      await cluster.finishMove(slot, to);
      const decision = await limiter.consume('mover');
      expect(decision).toMatchObject({ allowed: true, decidedBy: 'store' });
      expect(decision.limits.user.remaining).toBe(5);
    });

    it('is decided where the key is while it moves (ASK)', async () => {
      const limiter = limiterOf(10);
      const slot = await slotOf('asker');
      const from = await cluster.masterOf(slot);
      const to = masters().find((server) => server !== from) as RedisServer;
      await cluster.beginMove(slot, to);
      // The key is nowhere yet: the old node sends the call on to the new one, which creates it.
      expect((await limiter.consume('asker', { cost: 4 })).limits.user.remaining).toBe(6);
      expect(await from.cli('DBSIZE')).toBe(0);
      expect((await limiter.consume('asker')).limits.user.remaining).toBe(5);
      await cluster.finishMove(slot, to);
      expect((await limiter.consume('asker')).limits.user.remaining).toBe(4);
    });

    it('admits exactly the limit under load while it moves to and fro', async () => {
      const limiter = limiterOf(300);
      const slot = await slotOf('loaded');
      let admitted = 0;
      let moving = true;
      const load = Promise.all(
        Array.from({ length: 8 }, async () => {
          while (moving) if ((await limiter.consume('loaded')).allowed) admitted += 1;
        }),
      );
      for (let i = 0; i < 4; i += 1) {
        const from = await cluster.masterOf(slot);
        const to = masters().find((server) => server !== from) as RedisServer;
        await cluster.beginMove(slot, to);
        await sleep(20);
        await cluster.finishMove(slot, to);
        await sleep(20);
      }
      await until(
        'the limit is used up',
        5000,
        async () => (await limiter.inspect('loaded')).limits.user.remaining === 0,
      );
      moving = false;
      await load;
      expect(admitted).toBe(300);
    });
  });

  describe('at most once, and never late', () => {
    const proxies: TcpProxy[] = [];
    let through: TestClient;
    let far: RedisStore;
    beforeEach(async () => {
      const natMap: Record<string, { host: string; port: number }> = {};
      for (const server of cluster.servers) {
        const proxy = await startProxy(server);
        proxies.push(proxy);
        natMap[`127.0.0.1:${server.port}`] = { host: '127.0.0.1', port: proxy.port };
      }
      through = driver.connect(cluster.nodes, natMap);
      far = redisStore(through.client, { prefix: PREFIX });
    });
    afterEach(async () => {
      for (const server of cluster.servers) server.resume();
      await far.close();
      await through.end();
      for (const proxy of proxies.splice(0)) await proxy.stop();
    });
    const RULE = {
      algorithm: 'fixed-window',
      limit: 1000,
      windowMs: 2 ** 41,
      align: 'first-request',
      offsetMs: 0,
    } as const;
    const asked = (op: 'consume' | 'peek', user: string): AskStep => ({
      op,
      charges: [
        {
          ledger: { name: 'once/user', grid: ruleGrid(RULE), values: [user] },
          rule: RULE,
          cost: 1,
          holdBack: 0,
          enforce: true,
        },
      ],
    });
    async function consume(user: string, ms?: number): Promise<string> {
      const signal =
        ms === undefined ? undefined : Object.assign(AbortSignal.timeout(ms), { deadlineAt: performance.now() + ms });
      const [outcome] = await far.run([asked('consume', user)], signal);
      return outcome?.ok === false ? outcome.fault : 'ok';
    }
    async function used(user: string): Promise<number> {
      const [outcome] = await store().run([asked('peek', user)]);
      return 1000 - (outcome as AskOutcome).verdicts[0]!.remaining;
    }

    it('20 links that are cut after the send: each call has run once, and none is sent again', async () => {
      await consume('cut');
      const outcomes: string[] = [];
      for (let i = 0; i < 20; i += 1) {
        for (const proxy of proxies) proxy.cutAfterSend({ when: (data) => data.includes('evalsha') });
        outcomes.push(await consume('cut'));
      }
      for (const proxy of proxies) proxy.heal();
      expect(new Set(outcomes)).toEqual(new Set(['unknown-outcome']));
      await sleep(100);
      expect(await used('cut')).toBe(21);
      expect(await consume('cut')).toBe('ok');
    });

    it('of 20 calls that time out while the master is stopped, none runs afterwards', async () => {
      for (let i = 0; i < 3; i += 1) expect(await consume('late')).toBe('ok');
      const master = await cluster.masterOf(await slotOf('late'));
      master.pause();
      const late = Array.from({ length: 20 }, () => consume('late', 80));
      await sleep(200);
      master.resume();
      expect(new Set(await Promise.all(late))).toEqual(new Set(['unreachable']));
      expect(await used('late')).toBe(3);
    });
  });
});
