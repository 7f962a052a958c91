import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '@limiter/core';
import { createLimiter, tokenBucket } from '@limiter/core';
import {
  type ClockShim,
  clockShim,
  type RedisServer,
  startRedis,
  startUpstash,
  type UpstashServer,
} from '@limiter/test-servers';
import { Redis } from '@upstash/redis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { upstashStore } from '../src/index.js';
import { callOf, deadline, faultOf, one, said, timesRun } from './support/ledgers.js';

const HOUR = 3_600_000;
let clock: ClockShim;
let server: RedisServer;
let upstash: UpstashServer;
let direct: Store;
let store: Store;

beforeAll(async () => {
  clock = await clockShim();
  server = await startRedis({ preload: clock });
});
afterAll(async () => {
  await server.stop();
  clock.close();
});
beforeEach(async () => {
  clock.offsetMs = 0;
  await server.cli('FLUSHALL');
  upstash = await startUpstash(server);
  const { url, token } = upstash;
  // So that the script is there.
  direct = upstashStore({ url, token });
  await one(direct, 'direct');
  store = upstashStore(new Redis({ url, token }));
});
afterEach(() => upstash.stop());
const callsAfter = (count: number): readonly string[] => upstash.requests.slice(count).map(({ body }) => callOf(body));

describe('the deadline of a call, told by the server', () => {
  it('of 20 calls that reach Redis after their deadline none runs', async () => {
    await one(store, 'before');
    upstash.delay({ beforeMs: 120 });
    const outcomes = await Promise.all(Array.from({ length: 20 }, (_, i) => one(store, `late${i}`, deadline(50))));
    expect(new Set(outcomes.map(faultOf))).toEqual(new Set(['unreachable']));
    for (let i = 0; i < 20; i += 1) expect(await timesRun(direct, `late${i}`)).toBe(0);
  });

  it('holds for the very first call of a store', async () => {
    upstash.delay({ beforeMs: 120 });
    expect(said(await one(store, 'first', deadline(50)))).toMatch(/^unreachable: .*after its deadline/);
    upstash.delay({});
    expect(await timesRun(direct, 'first')).toBe(0);
  });

  it('holds where Redis itself is stopped', async () => {
    await one(store, 'before');
    server.pause();
    const late = one(store, 'late', deadline(40));
    await sleep(100);
    server.resume();
    expect(faultOf(await late)).toBe('unreachable');
    expect(await timesRun(direct, 'late')).toBe(0);
  });

  it('is taken at staleAfterMs where the signal does not say when it aborts', async () => {
    const stale = upstashStore({ url: upstash.url, token: upstash.token }, { staleAfterMs: 30 });
    await one(stale, 'before');
    upstash.delay({ beforeMs: 100 });
    expect(faultOf(await one(stale, 'late', new AbortController().signal))).toBe('unreachable');
  });

  it('is the end of the request where there is no signal', async () => {
    const brief = upstashStore({ url: upstash.url, token: upstash.token }, { requestTimeoutMs: 60 });
    await one(brief, 'before');
    upstash.delay({ beforeMs: 150 });
    expect(said(await one(brief, 'late'))).toBe('unknown-outcome: Upstash has not answered within 60 ms');
    await sleep(150);
    upstash.delay({});
    expect(await timesRun(direct, 'late')).toBe(0);
  });

  it('a database whose clock is an hour ahead costs one more request, once', async () => {
    clock.offsetMs = HOUR;
    expect(faultOf(await one(store, 'a', deadline(1000)))).toBe('ok');
    expect(faultOf(await one(store, 'a', deadline(1000)))).toBe('ok');
    expect(callsAfter(1)).toEqual(['EVALSHA 1', 'EVALSHA 1', 'EVALSHA 1']);
    expect(await timesRun(direct, 'a')).toBe(2);
  });

  it('is not confused by a clock that jumps: every step in time runs, exactly once', async () => {
    for (const [i, offsetMs] of [HOUR, -HOUR, 1500, -1500, 24 * HOUR, 0].entries()) {
      clock.offsetMs = offsetMs;
      for (let j = 0; j < 3; j += 1) expect(faultOf(await one(store, `${i}`, deadline(1000)))).toBe('ok');
      expect(await timesRun(direct, `${i}`)).toBe(3);
    }
  });

  it('holds after the clock was set back, too', async () => {
    for (const offsetMs of [HOUR, -HOUR, 0]) {
      upstash.delay({});
      clock.offsetMs = offsetMs;
      expect(faultOf(await one(store, 'seen', deadline(1000)))).toBe('ok');
      upstash.delay({ beforeMs: 120 });
      expect(faultOf(await one(store, 'late', deadline(50)))).toBe('unreachable');
    }
    upstash.delay({});
    clock.offsetMs = 0;
    expect(await timesRun(direct, 'late')).toBe(0);
  });

  it('holds with a clock of the caller', async () => {
    const turned = upstashStore({ url: upstash.url, token: upstash.token }, { clock: () => 1_700_000_000_000 });
    expect(faultOf(await one(turned, 'in time', deadline(1000)))).toBe('ok');
    upstash.delay({ beforeMs: 120 });
    expect(faultOf(await one(turned, 'late', deadline(50)))).toBe('unreachable');
  });
});

describe('a limiter', () => {
  it('answers its caller at the deadline, and gives back what was admitted behind it', async () => {
    const limiter = createLimiter({
      name: 'api',
      store,
      limits: { user: tokenBucket({ capacity: 5, refill: '1/1h' }) },
      onStoreFailure: 'deny',
      storeTimeout: '60ms',
    });
    expect((await limiter.consume('u1')).limits.user.remaining).toBe(4);
    upstash.delay({ afterMs: 500 });
    const started = performance.now();
    expect(await limiter.consume('u1')).toMatchObject({ allowed: false, reason: 'store-failure', decidedBy: 'policy' });
    expect(performance.now() - started).toBeLessThan(400);
    upstash.delay({});
    await sleep(700);
    expect((await limiter.consume('u1')).limits.user.remaining).toBe(3);
    await limiter.close();
  });
});
