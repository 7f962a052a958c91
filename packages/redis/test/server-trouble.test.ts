import { setTimeout as sleep } from 'node:timers/promises';
import type { DeadlineSignal, Outcome, Store } from '@limiter/core';
import { type RedisServer, startRedis } from '@limiter/test-servers';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { RedisWarning } from '../src/index.js';
import { drivers } from './support/clients.js';
import { calls, ran, recordingStore, step } from './support/recording.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function deadline(ms: number): DeadlineSignal {
  return Object.assign(AbortSignal.timeout(ms), { deadlineAt: performance.now() + ms });
}
async function one(store: Store, name: string, signal: DeadlineSignal = deadline(3000)): Promise<Outcome> {
  return (await store.run([step(name)], signal))[0] as Outcome;
}
const said = (outcome: Outcome): string => (outcome.ok ? 'ok' : `${outcome.fault}: ${outcome.cause}`);

async function redis(...args: string[]): Promise<RedisServer> {
  const server = await startRedis({ args });
  cleanups.push(() => server.stop());
  return server;
}

describe.each(drivers)('with $name', (driver) => {
  function storeOn(server: { readonly port: number }, options: Parameters<typeof recordingStore>[1] = {}): Store {
    const client = driver.connect(server.port);
    const store = recordingStore(client.client, options);
    cleanups.push(
      () => store.close(),
      () => client.end(),
    );
    return store;
  }

  it('a forgotten script is sent as text, once, and nothing is lost', async () => {
    const server = await redis();
    const store = storeOn(server);
    for (const name of ['a', 'b', 'c']) {
      expect(said(await one(store, name))).toBe('ok');
      await server.cli('SCRIPT', 'FLUSH');
    }
    const outcomes = await Promise.all(['d', 'e', 'f'].map((name) => one(store, name)));
    expect(outcomes.map(said)).toEqual(['ok', 'ok', 'ok']);
    expect(await ran(server)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    expect(await calls(server)).toEqual([1, 1, 1, 3]);
  });

  it('a server that is down at the start costs no rejection, and serves as soon as it is up', async () => {
    const server = await redis();
    await server.kill();
    const store = storeOn(server);
    expect(said(await one(store, 'early', deadline(200)))).toMatch(/^unreachable: .*not reached in time/);
    await server.restart();
    const start = performance.now();
    expect(said(await one(store, 'later'))).toBe('ok');
    expect(performance.now() - start).toBeLessThan(1500);
    expect(await ran(server)).toEqual(['later']);
  });

  it('a killed server: what was sent is unknown, what was not is unreachable, a restarted one serves within a second', async () => {
    const server = await redis();
    const store = storeOn(server);
    await one(store, 'before');
    server.pause();
    const sent = one(store, 'sent');
    await sleep(20);
    await server.kill();
    expect(said(await sent)).toMatch(/^unknown-outcome/);
    expect(said(await one(store, 'unsent', deadline(100)))).toMatch(/^unreachable/);
    await server.restart();
    const start = performance.now();
    expect(said(await one(store, 'after'))).toBe('ok');
    expect(performance.now() - start).toBeLessThan(1500);
    expect(await ran(server)).toEqual(['after']);
  });

  it('a server out of memory refuses, and serves again when it has some', async () => {
    const server = await redis('--maxmemory', '1mb');
    const store = storeOn(server);
    expect(said(await one(store, 'a'))).toMatch(/^refused: .*OOM/);
    await server.cli('CONFIG', 'SET', 'maxmemory', '100mb');
    expect(said(await one(store, 'b'))).toBe('ok');
    expect(await ran(server)).toEqual(['b']);
  });

  it('a read-only replica refuses; once it is master it serves', async () => {
    const master = await redis();
    const replica = await redis('--replicaof', `127.0.0.1 ${master.port}`);
    const store = storeOn(replica);
    expect(said(await one(store, 'a'))).toMatch(/^refused: .*READONLY/);
    await replica.cli('REPLICAOF', 'NO', 'ONE');
    expect(said(await one(store, 'b'))).toBe('ok');
    expect(await ran(replica)).toEqual(['b']);
  });

  it('a replica without its master, and a master without its replicas, refuse', async () => {
    const lost = await redis('--replicaof', '127.0.0.1 1', '--replica-serve-stale-data', 'no');
    expect(said(await one(storeOn(lost), 'a'))).toMatch(/^refused: .*MASTERDOWN/);
    const alone = await redis('--min-replicas-to-write', '1');
    expect(said(await one(storeOn(alone), 'a'))).toMatch(/^refused: .*NOREPLICAS/);
  });

  it('a server busy with a script refuses', async () => {
    const server = await redis('--busy-reply-threshold', '20');
    const store = storeOn(server);
    await one(store, 'before');
    const other = new Redis(server.port, '127.0.0.1');
    cleanups.push(() => other.disconnect());
    const endless = other.eval('while true do end', 0).catch(() => undefined);
    await sleep(150);
    expect(said(await one(store, 'a', deadline(500)))).toMatch(/^refused: .*BUSY/);
    await server.cli('SCRIPT', 'KILL');
    await endless;
    expect(said(await one(store, 'b'))).toBe('ok');
    expect(await ran(server)).toEqual(['before', 'b']);
  });

  it('a user without the right to write refuses, and one without TIME is warned about', async () => {
    const server = await redis(...'--user default on nopass ~other:* +@all'.split(' '));
    expect(said(await one(storeOn(server), 'a'))).toMatch(/^refused: .*NOPERM/);
    const blind = await redis(...'--user default on nopass ~* +@all -time'.split(' '));
    const warnings: RedisWarning[] = [];
    expect(said(await one(storeOn(blind, { warnings }), 'a'))).toMatch(/^refused/);
    expect(warnings.map(({ code }) => code)).toEqual(['LIMITER_REDIS_CLOCK']);
  });

  it('a missing password is the reason in the fault', async () => {
    const server = await redis('--requirepass', 'secret');
    const outcome = await one(storeOn(server), 'a', deadline(300));
    expect(said(outcome)).toMatch(/^(unreachable|refused)/);
    expect(JSON.stringify(causes(outcome))).toMatch(/NOAUTH/);
  });

  it('an evicting server is warned about once, a server that never evicts is not', async () => {
    const warnings: RedisWarning[] = [];
    const server = await redis('--maxmemory-policy', 'allkeys-lru');
    const store = storeOn(server, { warnings });
    await one(store, 'a');
    await server.restart();
    await one(store, 'b');
    expect(warnings.map(({ code }) => code)).toEqual(['LIMITER_REDIS_EVICTION']);
    expect(warnings[0]?.message).toContain('allkeys-lru');
    const calm: RedisWarning[] = [];
    await one(storeOn(await redis(), { warnings: calm }), 'a');
    await sleep(20);
    expect(calm).toEqual([]);
  });
});

/** The messages of an error and of its causes. */
function causes(outcome: Outcome): readonly string[] {
  const found: string[] = [];
  let next: unknown = outcome.ok ? undefined : outcome.cause;
  while (next instanceof Error) {
    found.push(next.message);
    next = next.cause;
  }
  return found;
}

it('without a signal a step waits five seconds for a server and no longer', async () => {
  const server = await redis();
  await server.kill();
  const client = new Redis(server.port, '127.0.0.1');
  client.on('error', () => undefined);
  cleanups.push(() => client.disconnect());
  const store = recordingStore(client);
  cleanups.push(() => store.close());
  const start = performance.now();
  const [outcome] = await store.run([step('a')]);
  expect(said(outcome as Outcome)).toMatch(/^unreachable/);
  expect(performance.now() - start).toBeGreaterThan(4900);
  expect(performance.now() - start).toBeLessThan(6000);
});

it('a shared connection is used as it is, and each unsafe option is named', async () => {
  const server = await redis();
  const client = new Redis({ port: server.port, enableAutoPipelining: true, commandTimeout: 100 });
  cleanups.push(() => client.disconnect());
  const warnings: RedisWarning[] = [];
  const store = recordingStore(client, { shared: true, warnings });
  expect(said(await one(store, 'a'))).toBe('ok');
  expect(await ran(server)).toEqual(['a']);
  expect(warnings.map(({ code }) => code)).toEqual(['LIMITER_REDIS_SHARED_CONNECTION']);
  for (const option of [
    'autoResendUnfulfilledCommands',
    'enableOfflineQueue',
    'enableAutoPipelining',
    'commandTimeout',
  ]) {
    expect(warnings[0]?.message).toContain(option);
  }
  expect(warnings[0]?.message).not.toContain('readOnly');
  await store.close();
  expect(client.status).toBe('ready');
  expect(await server.cli('CLIENT', 'LIST')).not.toMatch(/(name=.*\n){4}/);
});

it('a shared connection with safe options is not warned about', async () => {
  const server = await redis();
  const client = new Redis({
    port: server.port,
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
  });
  cleanups.push(() => client.disconnect());
  const warnings: RedisWarning[] = [];
  expect(said(await one(recordingStore(client, { shared: true, warnings }), 'a'))).toBe('ok');
  expect(warnings).toEqual([]);
});

it('whatever happens to the connection, nothing is ever an unhandled rejection or printed', async () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  cleanups.push(() => printed.mockRestore());
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  cleanups.push(() => process.off('unhandledRejection', note));
  const server = await redis();
  const client = new Redis({ port: server.port, lazyConnect: true });
  const store = recordingStore(client);
  cleanups.push(() => store.close());
  await one(store, 'a');
  await server.kill();
  await one(store, 'b', deadline(300));
  await server.restart();
  await one(store, 'c');
  await store.close();
  await store.close();
  expect(said(await one(store, 'd'))).toMatch(/^unreachable: .*closed/);
  await sleep(50);
  expect(unhandled).toEqual([]);
  expect(printed).not.toHaveBeenCalled();
});
