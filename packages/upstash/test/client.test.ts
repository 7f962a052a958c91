import { type RedisServer, startRedis, startUpstash, type UpstashServer } from '@limiter/test-servers';
import { Redis } from '@upstash/redis';
import { Redis as Cloudflare } from '@upstash/redis/cloudflare';
import { Redis as Fastly } from '@upstash/redis/fastly';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type UpstashClient, upstashStore } from '../src/index.js';
import { faultOf, one, timesRun } from './support/ledgers.js';

let server: RedisServer;
let upstash: UpstashServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());
beforeEach(async () => {
  await server.cli('FLUSHALL');
  upstash = await startUpstash(server);
});
afterEach(() => upstash.stop());

describe('a client', () => {
  const { url, token } = { url: 'https://example.upstash.io', token: 'secret' };
  it.each([
    ['the Node entry', () => new Redis({ url: upstash.url, token: upstash.token })],
    ['the Cloudflare entry', () => new Cloudflare({ url: upstash.url, token: upstash.token })],
    ['the Fastly entry', () => new Fastly({ url: upstash.url, token: upstash.token, backend: 'limiter' })],
    ['a url and a token', () => ({ url: upstash.url, token: upstash.token })],
    ['a url with a slash at its end', () => ({ url: `${upstash.url}/`, token: upstash.token })],
  ])('of %s decides', async (_name, client) => {
    const store = upstashStore(client());
    expect(faultOf(await one(store, 'a'))).toBe('ok');
    expect(await timesRun(store, 'a')).toBe(1);
  });

  it.each([
    ['nothing', undefined, /got undefined/],
    ['an address alone', { url }, /got \{ url \}/],
    ['an address that is none', { url: 'example.upstash.io', token }, /must begin with https/],
    ['the address of the TCP port', { url: 'rediss://example.upstash.io:6379', token }, /must begin with https/],
    ['an empty token', { url, token: '' }, /the token must be text/],
    ['a token with a line break', { url, token: `${token}\n` }, /the token must be text/],
    ['a client of something else', { evalsha: () => undefined, options: {} }, /must be a Redis of @upstash\/redis/],
    [
      'a client whose requests are not known',
      new Redis({ request: () => Promise.reject(new Error('mine')) }),
      /hand in \{ url, token \}/,
    ],
  ])('that is %s is refused with the reason', (_name, client, reason) => {
    const make = (): unknown => upstashStore(client as unknown as UpstashClient);
    expect(make).toThrow(reason);
    expect(make).toThrow(expect.objectContaining({ code: 'ERR_LIMITER_CLIENT' }));
  });

  it('without a token is refused, and a token is never part of a message', () => {
    const warned = vi.spyOn(console, 'warn').mockReturnValue();
    const unset = new Redis({ url, token: undefined });
    warned.mockRestore();
    expect(() => upstashStore(unset)).toThrow(/the token must be text/);
    expect(() => upstashStore({ url: 'nowhere', token })).not.toThrow(/secret/);
  });

  it.each([
    [{ prefix: 'a{b' }, /prefix must be text without/],
    [{ clock: 5 as unknown as () => number }, /clock must be a function, got 5/],
    [{ staleAfterMs: 0 }, /staleAfterMs must be a whole number from 1 to 2\^31-1, got 0/],
    [{ requestTimeoutMs: 2 ** 31 }, /requestTimeoutMs must be a whole number from 1 to 2\^31-1, got 2147483648/],
    [{ requestTimeoutMs: 0.5 }, /got 0.5/],
  ])('with the options %o is refused', (options, reason) => {
    const make = (): unknown => upstashStore({ url, token }, options);
    expect(make).toThrow(reason);
    expect(make).toThrow(expect.objectContaining({ code: 'ERR_LIMITER_OPTION' }));
  });
});

describe('a request', () => {
  it('is a POST of one command with the headers of the client, and plain answers', async () => {
    await one(upstashStore(new Redis({ url: upstash.url, token: upstash.token })), 'a');
    const [request] = upstash.requests;
    expect(request?.path).toBe('/');
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'upstash-telemetry-sdk': expect.stringMatching(/^@upstash\/redis/),
    });
    expect(request?.headers).not.toHaveProperty('upstash-encoding');
  });

  it('reads its own writes: it names the token of the answer before it', async () => {
    const { url, token } = upstash;
    // So that the script is there.
    await one(upstashStore({ url, token }), 'before');
    const store = upstashStore(new Redis({ url, token }));
    for (let i = 0; i < 3; i += 1) await one(store, 'a');
    const tokens = upstash.requests.map(({ headers }) => headers['upstash-sync-token']).slice(-3);
    expect(tokens).toEqual(['', expect.stringMatching(/^token-[1-3]$/), expect.stringMatching(/^token-[2-4]$/)]);
    expect(tokens[1]).not.toBe(tokens[2]);
  });

  it('does not where the client was told not to', async () => {
    const store = upstashStore(new Redis({ url: upstash.url, token: upstash.token, readYourWrites: false }));
    await one(store, 'a');
    await one(store, 'a');
    for (const { headers } of upstash.requests) expect(headers).not.toHaveProperty('upstash-sync-token');
  });

  it('goes to the cache and the backend that the client names, and follows no redirect', async () => {
    const sent = vi.spyOn(globalThis, 'fetch');
    const { url, token } = upstash;
    await one(upstashStore(new Redis({ url, token, cache: 'no-cache' })), 'a');
    await one(upstashStore(new Fastly({ url, token, backend: 'limiter' })), 'a');
    await one(upstashStore({ url, token }), 'a');
    const [node, fastly, plain] = sent.mock.calls.slice(-3).map(([, init]) => init);
    sent.mockRestore();
    expect(node).toMatchObject({ method: 'POST', redirect: 'manual', cache: 'no-cache' });
    expect(fastly).toMatchObject({ backend: 'limiter' });
    expect(Object.keys(plain ?? {}).toSorted()).toEqual(['body', 'headers', 'method', 'redirect', 'signal']);
  });

  it('has a body that cannot be sent twice on Deno, whose fetch would send it twice', async () => {
    vi.stubGlobal('Deno', {});
    const sent = vi.spyOn(globalThis, 'fetch');
    try {
      const store = upstashStore({ url: upstash.url, token: upstash.token });
      expect(faultOf(await one(store, 'ü'))).toBe('ok');
      expect(sent.mock.lastCall?.[1]).toMatchObject({ body: expect.any(ReadableStream), duplex: 'half' });
      expect(await timesRun(store, 'ü')).toBe(1);
    } finally {
      sent.mockRestore();
      vi.unstubAllGlobals();
    }
  });

  it('leaves no timer behind', async () => {
    const before = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const store = upstashStore({ url: upstash.url, token: upstash.token }, { requestTimeoutMs: 60_000 });
    for (let i = 0; i < 50; i += 1) await one(store, 'a');
    // The connections that fetch keeps have a few of their own.
    const after = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    expect(after - before).toBeLessThan(10);
  });

  it('leaves the client as it was', async () => {
    const client = new Redis({ url: upstash.url, token: upstash.token });
    const { client: requester } = client as unknown as { readonly client: object };
    const before = JSON.stringify(requester);
    await one(upstashStore(client), 'a');
    expect(JSON.stringify(requester)).toBe(before);
    expect(client.readYourWritesSyncToken).toBe('');
  });
});
