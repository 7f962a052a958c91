/** What the other tests stand on: the client of Upstash finds in the stand-in what it expects of the service. */
import { type RedisServer, startRedis, startUpstash, type UpstashServer } from '@limiter/test-servers';
import { Redis } from '@upstash/redis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

let server: RedisServer;
let upstash: UpstashServer;
beforeAll(async () => {
  server = await startRedis();
  upstash = await startUpstash(server);
});
afterAll(async () => {
  await upstash.stop();
  await server.stop();
});
beforeEach(() => server.cli('FLUSHALL'));

describe.each([
  ['base64', true],
  ['base64', false],
  [false, true],
  [false, false],
] as const)('with answers in %s and automatic pipelining %s', (responseEncoding, enableAutoPipelining) => {
  const connect = (): Redis =>
    new Redis({
      url: upstash.url,
      token: upstash.token,
      responseEncoding,
      enableAutoPipelining,
      retry: { retries: 0 },
    });

  it('texts come back as they went, OK among them', async () => {
    const redis = connect();
    for (const text of ['plain', 'OK', 'ü 漢 🙂', '', 'a\u0000b\n"']) {
      expect(await redis.set('k', text)).toBe('OK');
      expect(await redis.get('k')).toBe(text);
    }
  });

  it('so do lists within lists, numbers, and nothing', async () => {
    const redis = connect();
    const script = "return {'a', 1, {'OK', {'b', 2}}, false}";
    expect(await redis.eval(script, [], [])).toEqual(['a', 1, ['OK', ['b', 2]], null]);
    expect(await redis.get('missing')).toBeNull();
  });

  it("Redis's errors are thrown with their words", async () => {
    const redis = connect();
    await redis.set('text', 'x');
    await expect(redis.lpush('text', 'y')).rejects.toThrow(/WRONGTYPE/);
    await expect(redis.evalsha('0'.repeat(40), [], [])).rejects.toThrow(/NOSCRIPT/);
  });

  it('pipelines and transactions answer in order', async () => {
    const redis = connect();
    expect(await redis.pipeline().set('a', 1).incr('a').get('a').exec()).toEqual(['OK', 2, 2]);
    expect(await redis.multi().set('b', 'x').get('b').exec()).toEqual(['OK', 'x']);
  });

  it('a wrong token is refused', async () => {
    const redis = new Redis({ url: upstash.url, token: 'wrong', responseEncoding, retry: { retries: 0 } });
    await expect(redis.get('a')).rejects.toThrow(/WRONGPASS/);
  });
});

describe('what the store does without, because the client', () => {
  it('sends twice with retry: false when its answer is lost', async () => {
    let tries = 0;
    const original = globalThis.fetch;
    globalThis.fetch = () => {
      tries += 1;
      return Promise.reject(new TypeError('fetch failed'));
    };
    try {
      const redis = new Redis({ url: upstash.url, token: upstash.token, retry: false });
      await expect(redis.incr('a')).rejects.toThrow('fetch failed');
    } finally {
      globalThis.fetch = original;
    }
    expect(tries).toBe(2);
  });

  it('answers a call that was aborted by a fixed signal with the reason, as if it were the result', async () => {
    const controller = new AbortController();
    const { url, token } = upstash;
    const redis = new Redis({ url, token, signal: controller.signal, enableAutoPipelining: false });
    controller.abort('Aborted');
    expect(await redis.incr('a')).not.toBe(1);
    expect(await server.cli('GET', 'a')).toBeNull();
  });
});
