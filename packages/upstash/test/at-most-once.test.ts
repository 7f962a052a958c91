import { setTimeout as sleep } from 'node:timers/promises';
import type { Outcome, Store } from '@limiter/core';
import {
  type RedisServer,
  startProxy,
  startRedis,
  startUpstash,
  type TcpProxy,
  type UpstashServer,
} from '@limiter/test-servers';
import { Redis } from '@upstash/redis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { upstashStore } from '../src/index.js';
import { callOf, deadline, faultOf, one, said, step, timesRun } from './support/ledgers.js';

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

/** The settings of the client that a caller may have chosen; none of them may make a step run twice. */
const clients = {
  'the defaults of the client': {},
  'retry: false, which sends twice': { retry: false },
  'ten retries without a pause': { retry: { retries: 10, backoff: () => 0 } },
  'a fixed signal': { signal: AbortSignal.timeout(600_000) },
  'no automatic pipelining': { enableAutoPipelining: false },
} as const;

describe.each(Object.entries(clients))('with %s', (_name, settings) => {
  let upstash: UpstashServer;
  let proxy: TcpProxy;
  /** Reaches the database without the proxy. */
  let direct: Store;
  let store: Store;

  beforeEach(async () => {
    await server.cli('FLUSHALL');
    upstash = await startUpstash(server);
    proxy = await startProxy(upstash);
    direct = upstashStore({ url: upstash.url, token: upstash.token });
    store = upstashStore(new Redis({ url: `http://127.0.0.1:${proxy.port}`, token: upstash.token, ...settings }));
  });
  afterEach(async () => {
    await proxy.stop();
    await upstash.stop();
  });

  it('a wire that is cut after the send is an unknown outcome; one request was sent and the step has run once', async () => {
    await one(store, 'before');
    const sent = upstash.requests.length;
    proxy.cutAfterSend({ when: (data) => data.includes('EVALSHA') });
    expect(faultOf(await one(store, 'cut'))).toBe('unknown-outcome');
    await sleep(150);
    expect(upstash.requests.length - sent).toBe(1);
    expect(await timesRun(direct, 'cut')).toBe(1);
  });

  it('a wire that is cut before anybody saw the step is an unknown outcome too, and nothing has run', async () => {
    await one(store, 'before');
    const sent = upstash.requests.length;
    proxy.cutBeforeSend({ when: (data) => data.includes('EVALSHA') });
    expect(faultOf(await one(store, 'cut'))).toBe('unknown-outcome');
    await sleep(150);
    expect(upstash.requests.length - sent).toBe(0);
    expect(await timesRun(direct, 'cut')).toBe(0);
  });

  it('the next step after a cut is decided', async () => {
    await one(store, 'before');
    proxy.cutAfterSend({ when: (data) => data.includes('EVALSHA') });
    await one(store, 'cut');
    expect(faultOf(await one(store, 'after'))).toBe('ok');
  });
});

describe('a step', () => {
  let upstash: UpstashServer;
  let direct: Store;
  let store: Store;
  beforeEach(async () => {
    await server.cli('FLUSHALL');
    await server.cli('SCRIPT', 'FLUSH');
    upstash = await startUpstash(server);
    direct = upstashStore({ url: upstash.url, token: upstash.token });
    store = upstashStore(new Redis({ url: upstash.url, token: upstash.token }));
  });
  afterEach(() => upstash.stop());
  const calls = (): readonly string[] => upstash.requests.map(({ body }) => callOf(body));

  it('is sent as text when the database does not have the script, and by its hash from then on', async () => {
    expect(faultOf(await one(store, 'a'))).toBe('ok');
    expect(faultOf(await one(store, 'a'))).toBe('ok');
    expect(calls()).toEqual(['EVALSHA 1', 'EVAL 1', 'EVALSHA 1']);
    expect(await timesRun(direct, 'a')).toBe(2);
  });

  it('that was given up while the script was missing is not sent as text', async () => {
    const controller = new AbortController();
    upstash.delay({ afterMs: 60 });
    const outcome = one(store, 'gone', controller.signal);
    setTimeout(() => controller.abort(new Error('no longer wanted')), 20);
    expect(said(await outcome)).toBe('unreachable: no longer wanted');
    expect(calls()).toEqual(['EVALSHA 1']);
  });

  it('and those that are asked with it travel in one request, each answered for itself', async () => {
    await one(store, 'before');
    const outcomes = await Promise.all(Array.from({ length: 100 }, (_, i) => one(store, `s${i}`)));
    expect(outcomes.map(faultOf)).toEqual(Array(100).fill('ok'));
    expect(calls().slice(2)).toEqual(['EVALSHA 100']);
  });

  it('shares its request with 255 others at most', async () => {
    await one(store, 'before');
    const outcomes = await store.run(Array.from({ length: 600 }, (_, i) => step(`s${i}`)));
    expect(new Set(outcomes.map(faultOf))).toEqual(new Set(['ok']));
    expect(calls().slice(2).toSorted()).toEqual(['EVALSHA 256', 'EVALSHA 256', 'EVALSHA 88']);
  });

  it('with a long key shares its request with fewer: none grows beyond 1 MB', async () => {
    await one(store, 'before');
    const long = 'ü'.repeat(10_000);
    const outcomes = await store.run(Array.from({ length: 100 }, (_, i) => step(`${i}${long}`)));
    expect(new Set(outcomes.map(faultOf))).toEqual(new Set(['ok']));
    const sizes = upstash.requests.slice(2).map(({ body }) => Buffer.byteLength(JSON.stringify(body)));
    expect(sizes.length).toBeLessThanOrEqual(4);
    expect(Math.max(...sizes)).toBeLessThan(1_000_000);
    expect(await timesRun(direct, `99${long}`)).toBe(1);
  });

  it('whose signal has aborted leaves the request, the others go', async () => {
    await one(store, 'before');
    const controller = new AbortController();
    const gone = one(store, 'gone', controller.signal);
    const stays = one(store, 'stays');
    controller.abort(new Error('no longer wanted'));
    expect(said(await gone)).toBe('unreachable: no longer wanted');
    expect(faultOf(await stays)).toBe('ok');
    expect(calls().slice(2)).toEqual(['EVALSHA 1']);
    expect(await timesRun(direct, 'gone')).toBe(0);
  });

  it('that is asked with a signal that has aborted already is not sent', async () => {
    expect(said(await one(store, 'gone', AbortSignal.abort(new Error('too late'))))).toBe('unreachable: too late');
    await sleep(20);
    expect(upstash.requests).toEqual([]);
  });

  it('that cannot be written down fails alone', async () => {
    const broken = upstashStore({ url: upstash.url, token: upstash.token }, { clock: () => 0.5 });
    await expect(one(broken, 'a')).rejects.toMatchObject({ code: 'ERR_LIMITER_CLOCK' });
    await one(direct, 'before');
    let now = 0.5;
    const clock = (): number => {
      now += 0.25;
      return now;
    };
    const healing = upstashStore({ url: upstash.url, token: upstash.token }, { clock });
    // 0.75 for both; then 1 for the first, 1.25 for the second, each alone.
    const settled = await Promise.allSettled([one(healing, 'a'), one(healing, 'b')]);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });

  it('that is answered late is still answered by what happened', async () => {
    await one(store, 'before');
    upstash.delay({ afterMs: 150 });
    const outcome: Outcome = await one(store, 'slow', deadline(50));
    expect(faultOf(outcome)).toBe('ok');
    expect(await timesRun(direct, 'slow')).toBe(1);
  });
});
