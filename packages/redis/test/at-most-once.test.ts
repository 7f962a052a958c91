import { setTimeout as sleep } from 'node:timers/promises';
import type { DeadlineSignal, FaultOutcome, Outcome, Store } from '@limiter/core';
import { type RedisServer, startProxy, startRedis, type TcpProxy } from '@limiter/test-servers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RedisStore } from '../src/index.js';
import { bothWays } from './support/asking.js';
import { drivers, type TestClient } from './support/clients.js';
import { calls, ran, recordingStore, step } from './support/recording.js';

/** What the limiter passes down: a signal that says when it will abort. */
function deadline(ms: number): DeadlineSignal {
  return Object.assign(AbortSignal.timeout(ms), { deadlineAt: performance.now() + ms });
}

const fault = (outcome: Outcome | undefined): string => (outcome?.ok === false ? outcome.fault : 'ok');
async function one(store: Store, name: string, signal?: DeadlineSignal): Promise<Outcome> {
  return (await store.run([step(name)], signal))[0] as Outcome;
}

describe.each(bothWays(drivers))('with $name', (driver) => {
  let server: RedisServer;
  let proxy: TcpProxy;
  let client: TestClient;
  let store: RedisStore;

  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    await server.cli('FLUSHALL');
    proxy = await startProxy(server);
    client = driver.connect(proxy.port);
    store = driver.way(recordingStore(client.client));
  });
  afterEach(async () => {
    server.resume();
    await store.close();
    await client.end();
    await proxy.stop();
  });

  it('a step is answered', async () => {
    expect(fault(await one(store, 'a'))).toBe('ok');
    expect(await ran(server)).toEqual(['a']);
  });

  it('a link that is cut after the send is an unknown outcome, and the step has run once', async () => {
    await one(store, 'before');
    proxy.cutAfterSend({ when: (data) => data.includes('evalsha') });
    expect(fault(await one(store, 'cut'))).toBe('unknown-outcome');
    proxy.heal();
    expect(fault(await one(store, 'after'))).toBe('ok');
    await sleep(200);
    expect(await ran(server)).toEqual(['before', 'cut', 'after']);
  });

  it('the same for every one of 50 cuts: nothing ever runs twice', async () => {
    await one(store, 'before');
    const outcomes: string[] = [];
    for (let i = 0; i < 50; i += 1) {
      proxy.cutAfterSend({ when: (data) => data.includes('evalsha') });
      outcomes.push(fault(await one(store, `cut${i}`)));
    }
    proxy.heal();
    expect(new Set(outcomes)).toEqual(new Set(['unknown-outcome']));
    await sleep(100);
    expect(await ran(server)).toEqual(['before', ...outcomes.map((_, i) => `cut${i}`)]);
  });

  it('a link that is cut before the server saw the step is an unknown outcome too, and nothing has run', async () => {
    await one(store, 'before');
    proxy.cutBeforeSend({ when: (data) => data.includes('evalsha') });
    expect(fault(await one(store, 'cut'))).toBe('unknown-outcome');
    proxy.heal();
    await one(store, 'after');
    expect(await ran(server)).toEqual(['before', 'after']);
  });

  it('a half-closed link never loses or repeats a step without saying so', async () => {
    await one(store, 'before');
    proxy.halfClose();
    const outcome = fault(await one(store, 'half', deadline(1500)));
    await sleep(100);
    const seen = (await ran(server)).filter((name) => name === 'half').length;
    if (outcome === 'ok') expect(seen).toBe(1);
    else expect(seen).toBeLessThanOrEqual(1);
    expect(fault(await one(store, 'after', deadline(3000)))).toBe('ok');
  });

  it('a lost reply is an unknown outcome after the dead link is noticed, and the step has run once', async () => {
    await one(store, 'before');
    proxy.drop('down');
    const outcome = one(store, 'dropped');
    await sleep(50);
    expect(await ran(server)).toEqual(['before', 'dropped']);
    setTimeout(() => proxy.heal(), 500);
    expect(fault(await outcome)).toBe('unknown-outcome');
    expect(fault(await one(store, 'after', deadline(3000)))).toBe('ok');
    expect(await ran(server)).toEqual(['before', 'dropped', 'after']);
  }, 15_000);

  it('of 20 calls that time out while the server is stopped, none runs afterwards', async () => {
    await one(store, 'before');
    server.pause();
    const outcomes = await Promise.all(Array.from({ length: 20 }, (_, i) => withTimeout(store, `late${i}`, 60)));
    expect(outcomes).toEqual(Array(20).fill('gave up'));
    await sleep(100);
    server.resume();
    await sleep(300);
    expect(await ran(server)).toEqual(['before']);
    expect(fault(await one(store, 'after', deadline(1000)))).toBe('ok');
  });

  it('the same for 20 calls one after the other', async () => {
    await one(store, 'before');
    server.pause();
    for (let i = 0; i < 20; i += 1) expect(await withTimeout(store, `late${i}`, 30)).toBe('gave up');
    server.resume();
    await sleep(300);
    expect(await ran(server)).toEqual(['before']);
  });

  it('a call whose signal does not say when it aborts is not carried out later than staleAfterMs', async () => {
    await store.close();
    store = recordingStore(client.client, { staleAfterMs: 200 });
    await one(store, 'before');
    server.pause();
    const pending = Array.from({ length: 20 }, (_, i) => one(store, `late${i}`, AbortSignal.timeout(50)));
    await sleep(400);
    server.resume();
    const outcomes = await Promise.all(pending);
    expect(new Set(outcomes.map(fault))).toEqual(new Set(['unreachable']));
    expect(await ran(server)).toEqual(['before']);
  });

  it('a step that leaves because its signal aborted before the connection was made never runs', async () => {
    await store.close();
    server.pause();
    store = driver.way(recordingStore(client.client));
    const outcomes = await Promise.all(Array.from({ length: 20 }, (_, i) => one(store, `early${i}`, deadline(80))));
    expect(new Set(outcomes.map(fault))).toEqual(new Set(['unreachable']));
    server.resume();
    await sleep(200);
    expect(fault(await one(store, 'after', deadline(3000)))).toBe('ok');
    expect(await ran(server)).toEqual(['after']);
  });

  it('a late answer is still the true one', async () => {
    await one(store, 'before');
    proxy.delay({ upMs: 0, downMs: 150 });
    expect(fault(await one(store, 'slow', deadline(50)))).toBe('ok');
    expect(await ran(server)).toEqual(['before', 'slow']);
  });

  it('steps of one tick travel in one call, each answered for itself', async () => {
    await one(store, 'before');
    const outcomes = await Promise.all(Array.from({ length: 32 }, (_, i) => one(store, `s${i}`)));
    expect(outcomes.map(fault)).toEqual(Array(32).fill('ok'));
    expect(await calls(server)).toEqual([1, 32]);
  });

  it('many steps of one tick travel in two calls, in order', async () => {
    await one(store, 'before');
    await Promise.all(Array.from({ length: 200 }, (_, i) => one(store, `s${i}`)));
    expect(await calls(server)).toEqual([1, 100, 100]);
    expect((await ran(server)).slice(1)).toEqual(Array.from({ length: 200 }, (_, i) => `s${i}`));
  });

  it('callers that ask again and again travel in calls as large as at first', async () => {
    await one(store, 'before');
    const caller = async (name: string): Promise<void> => {
      for (let i = 0; i < 8; i += 1) await one(store, `${name}.${i}`);
    };
    await Promise.all(Array.from({ length: 200 }, (_, i) => caller(`s${i}`)));
    expect((await calls(server)).length).toBeLessThanOrEqual(1 + 20);
    expect(new Set(await ran(server)).size).toBe(1 + 1_600);
  });

  it('a call carries 256 steps at most', async () => {
    await one(store, 'before');
    await store.run(Array.from({ length: 1_100 }, (_, i) => step(`s${i}`)));
    expect(await calls(server)).toEqual([1, 256, 256, 256, 256, 76]);
    expect((await ran(server)).slice(1)).toEqual(Array.from({ length: 1_100 }, (_, i) => `s${i}`));
  });

  it('a step that cannot be written down fails alone', async () => {
    const [good, bad, other] = await Promise.allSettled([one(store, 'a'), one(store, 'unwritable'), one(store, 'b')]);
    expect(good.status).toBe('fulfilled');
    expect(bad.status).toBe('rejected');
    expect(other.status).toBe('fulfilled');
    expect(await ran(server)).toEqual(['a', 'b']);
  });

  it('steps whose signal has aborted leave the call, the others go', async () => {
    await one(store, 'before');
    const controller = new AbortController();
    const gone = one(store, 'gone', controller.signal);
    const stays = one(store, 'stays');
    controller.abort(new Error('no longer wanted'));
    expect(await gone).toMatchObject({
      fault: 'unreachable',
      cause: { message: 'no longer wanted' },
    } satisfies Partial<FaultOutcome> & object);
    expect(fault(await stays)).toBe('ok');
    expect(await ran(server)).toEqual(['before', 'stays']);
  });
});

/** How the limiter waits: until the store answers or the deadline passes. */
async function withTimeout(store: Store, name: string, ms: number): Promise<string> {
  const signal = deadline(ms);
  const gaveUp = new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('gave up')));
  const outcome = one(store, name, signal).then(fault);
  const first = await Promise.race([gaveUp, outcome]);
  return first === 'unreachable' ? 'gave up' : first;
}
