import type { DeadlineSignal, Outcome } from '@limiter/core';
import { createLimiter, fixedWindow, slidingWindowLog, tokenBucket } from '@limiter/core';
import { type ClockShim, clockShim, type RedisServer, startRedis } from '@limiter/test-servers';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type RedisStore, redisStore } from '../src/index.js';
import { assertTidy } from './support/keyspace.js';
import { ran, recordingStore, step } from './support/recording.js';

const HOUR = 3_600_000;
let clock: ClockShim;
let server: RedisServer;
let client: Redis;
let store: RedisStore;

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
  client = new Redis(server.port, '127.0.0.1');
  store = redisStore(client, { prefix: 'clock' });
});
afterEach(async () => {
  await store.close();
  client.disconnect();
});

const LIMITS = {
  'fixed window': (limit: number) => fixedWindow({ limit, window: '10m' }),
  'fixed window from the first request': (limit: number) =>
    fixedWindow({ limit, window: '10m', align: 'first-request' }),
  'sliding window log': (limit: number) => slidingWindowLog({ limit, window: '10m' }),
  'token bucket': (limit: number) => tokenBucket({ capacity: limit, refill: `${limit}/10m` as '5/10m' }),
};

describe.each(Object.entries(LIMITS))('%s', (_name, limit) => {
  const limiter = (max: number) =>
    createLimiter({ name: 'api', store, limits: { user: limit(max) }, onStoreFailure: 'throw', storeTimeout: '2s' });

  async function admitted(max: number, calls: number): Promise<number> {
    const decisions = await Promise.all(Array.from({ length: calls }, () => limiter(max).consume('u1')));
    return decisions.filter(({ allowed }) => allowed).length;
  }

  it('a server clock that is set back an hour locks nobody out for longer than a window, and gives at most one extra budget', async () => {
    expect(await admitted(5, 8)).toBe(5);
    clock.offsetMs = -HOUR;
    const again = await admitted(5, 8);
    expect(again).toBeLessThanOrEqual(5);
    const decision = await limiter(5).consume('u1');
    expect(decision.allowed).toBe(false);
    expect(decision.retryAfterMs).toBeLessThanOrEqual(600_000);
    clock.offsetMs = -HOUR + decision.retryAfterMs;
    expect((await limiter(5).consume('u1')).allowed).toBe(true);
    await assertTidy(server, 'clock');
  });

  it('a server clock that is set back a second changes nothing but the waits', async () => {
    expect(await admitted(5, 8)).toBe(5);
    clock.offsetMs = -1000;
    expect(await admitted(5, 8)).toBe(0);
  });

  it('a server clock that jumps an hour ahead gives one full budget', async () => {
    expect(await admitted(5, 8)).toBe(5);
    clock.offsetMs = HOUR;
    expect(await admitted(5, 8)).toBe(5);
    expect(await admitted(5, 8)).toBe(0);
  });

  it('a ledger leaves the server by itself once its budget is full again', async () => {
    expect(await admitted(5, 8)).toBe(5);
    expect(await assertTidy(server, 'clock')).toBe(1);
    clock.offsetMs = 2 * 600_000 + 10_000;
    await server.cli('GET', 'nothing');
    expect(await server.cli('EVAL', "return #redis.call('KEYS', '*')", 0)).toBe(0);
  });
});

function deadline(ms: number): DeadlineSignal {
  return Object.assign(AbortSignal.timeout(ms), { deadlineAt: performance.now() + ms });
}

describe('the deadline of a call, told by the server', () => {
  const jumps = [HOUR, -HOUR, 1500, -1500, 86_400_000, 0];

  it('is not confused by a clock that jumps: every step in time runs, exactly once', async () => {
    const recording = recordingStore(client);
    const names: string[] = [];
    for (const [i, offsetMs] of jumps.entries()) {
      clock.offsetMs = offsetMs;
      for (let j = 0; j < 3; j += 1) {
        const [outcome] = (await recording.run([step(`${i}.${j}`)], deadline(1000))) as [Outcome];
        expect(outcome.ok).toBe(true);
        names.push(`${i}.${j}`);
      }
    }
    expect(await ran(server)).toEqual(names);
    await recording.close();
  });

  it('holds after the clock was set back, too: what comes late does not run', async () => {
    const recording = recordingStore(client);
    for (const offsetMs of jumps) {
      clock.offsetMs = offsetMs;
      await recording.run([step('seen')], deadline(1000));
      server.pause();
      const late = recording.run([step('late')], deadline(40));
      await new Promise((resolve) => setTimeout(resolve, 80));
      server.resume();
      expect((await late)[0]).toMatchObject({ ok: false, fault: 'unreachable' });
    }
    expect(new Set(await ran(server))).toEqual(new Set(['seen']));
    await recording.close();
  });
});
