import type { Store } from '@limiter/core';
import { freePort, type RedisServer, startRedis, startUpstash, type UpstashServer } from '@limiter/test-servers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { upstashStore } from '../src/index.js';
import { neverSent } from '../src/never-sent.js';
import { readReply } from '../src/rest.js';
import { faultOf, one, said, timesRun } from './support/ledgers.js';

const HTML = '<html><body><h1>502 Bad Gateway</h1></body></html>';
const error = (message: string): string => JSON.stringify({ error: message });
const result = (value: unknown): string => JSON.stringify({ result: value });

describe('what an answer says', () => {
  it.each([
    { status: 502, body: HTML, says: 'unknown-outcome', why: 'a gateway between may have passed the request on' },
    { status: 504, body: '', says: 'unknown-outcome', why: 'and stopped waiting' },
    { status: 500, body: error('ERR internal'), says: 'unknown-outcome', why: 'it broke in the middle' },
    { status: 500, body: error('upstream lost'), says: 'unknown-outcome', why: 'nobody says where' },
    { status: 408, body: HTML, says: 'unknown-outcome', why: 'somebody stopped waiting' },
    { status: 499, body: '', says: 'unknown-outcome', why: 'the same' },
    { status: 0, body: '', says: 'unknown-outcome', why: 'a browser hides a redirect' },
    { status: 200, body: HTML, says: 'unknown-outcome', why: 'a page is no decision' },
    { status: 200, body: '{"result":[1', says: 'unknown-outcome', why: 'cut in the middle' },
    { status: 200, body: '', says: 'unknown-outcome', why: 'empty' },
    { status: 200, body: 'null', says: 'unknown-outcome', why: 'not an answer' },
    { status: 200, body: '[{"result":1}]', says: 'unknown-outcome', why: 'the answer of a pipeline' },
    { status: 200, body: '{}', says: 'unknown-outcome', why: 'neither result nor error' },
    { status: 200, body: error('trouble'), says: 'unknown-outcome', why: 'not an error of Redis' },
    { status: 401, body: error('Unauthorized'), says: 'refused', why: 'the token is wrong' },
    { status: 401, body: error('WRONGPASS invalid token'), says: 'error', why: 'the same, in other words' },
    { status: 403, body: HTML, says: 'refused', why: 'a firewall' },
    { status: 404, body: 'Not Found', says: 'refused', why: 'not the address of a database' },
    { status: 307, body: '', says: 'refused', why: 'a redirect is not followed' },
    { status: 429, body: HTML, says: 'refused', why: 'too many requests' },
    { status: 400, body: error('OOM command not allowed'), says: 'error', why: 'Redis itself' },
    { status: 400, body: error('LIMITERLATE 123'), says: 'error', why: 'the script itself' },
    { status: 500, body: error('NOSCRIPT No matching script.'), says: 'error', why: 'proves that nothing ran' },
    { status: 200, body: error('ERR max requests limit exceeded'), says: 'error', why: 'the plan is used up' },
    { status: 200, body: result(null), says: 'result', why: 'what null means is for the reader of the script' },
    { status: 200, body: result([1]), says: 'result', why: 'an answer' },
  ])('$status with "$body" is $says: $why', ({ status, body, says }) => {
    const reply = readReply(status, body);
    expect(reply.kind === 'fault' ? reply.fault : reply.kind).toBe(says);
  });

  it("an error of a script that got Redis's general code in front is read without it", () => {
    expect(readReply(400, error('ERR LIMITERLATE 12'))).toEqual({ kind: 'error', message: 'LIMITERLATE 12' });
    expect(readReply(400, error('ERR wrong number'))).toEqual({ kind: 'error', message: 'ERR wrong number' });
  });

  it('an answer that is no use is quoted, shortened', () => {
    const reply = readReply(502, 'x'.repeat(1000));
    expect(reply.kind === 'fault' && String(reply.cause)).toMatch(/^Error: Upstash answered 502: "x{200}\.\.\."$/);
  });
});

describe('an error of fetch', () => {
  const caused = (cause: unknown): Error => new TypeError('fetch failed', { cause });
  const system = (fields: object): Error => Object.assign(new Error('system'), fields);
  it.each([
    { what: 'a refused connection', error: caused(system({ code: 'ECONNREFUSED', syscall: 'connect' })), never: true },
    {
      what: 'no route while connecting',
      error: caused(system({ code: 'EHOSTUNREACH', syscall: 'connect' })),
      never: true,
    },
    {
      what: 'a name that is not known',
      error: caused(system({ code: 'ENOTFOUND', syscall: 'getaddrinfo' })),
      never: true,
    },
    {
      what: 'a connection that took too long',
      error: caused(system({ code: 'UND_ERR_CONNECT_TIMEOUT' })),
      never: true,
    },
    { what: 'a refused connection in Bun', error: system({ code: 'ConnectionRefused' }), never: true },
    {
      what: 'a refused connection in Deno',
      error: caused(new Error('error sending request for url (http://127.0.0.1:1/): client error (Connect): tcp')),
      never: true,
    },
    {
      what: 'a connection that was lost in Deno',
      error: caused(
        new Error('error sending request for url (http://127.0.0.1:1/): client error (SendRequest): reset'),
      ),
      never: false,
    },
    {
      what: 'every address refused',
      error: caused(system({ errors: [system({ syscall: 'connect' }), system({ code: 'ECONNREFUSED' })] })),
      never: true,
    },
    {
      what: 'one of the addresses reached',
      error: caused(system({ errors: [system({ syscall: 'connect' }), system({ syscall: 'read' })] })),
      never: false,
    },
    { what: 'a reset', error: caused(system({ code: 'ECONNRESET', syscall: 'read' })), never: false },
    { what: 'a closed socket', error: caused(system({ code: 'UND_ERR_SOCKET' })), never: false },
    { what: 'an abort', error: new DOMException('aborted', 'AbortError'), never: false },
    { what: 'an error without a word of where', error: new TypeError('Network connection lost.'), never: false },
    { what: 'what is no error', error: 'nothing', never: false },
  ])('$what: it was never sent is $never', ({ error, never }) => {
    expect(neverSent(error)).toBe(never);
  });
});

describe('a store', () => {
  let server: RedisServer;
  let upstash: UpstashServer;
  let store: Store;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    await server.cli('FLUSHALL');
    upstash = await startUpstash(server);
    store = upstashStore({ url: upstash.url, token: upstash.token });
    await one(store, 'before');
  });
  afterEach(async () => {
    vi.unstubAllGlobals();
    await upstash.stop();
  });

  it.each([
    { body: 'null', because: /the reply is null/ },
    { body: '"Aborted"', because: /the reply is a string/ },
    { body: '"OK"', because: /the reply is a string/ },
    { body: '[]', because: /no whole number/ },
    { body: '[1,2,3]', because: /./ },
    { body: '{"allowed":true}', because: /the reply is a object/ },
  ])('takes the result $body for a fault, not for an admission', async ({ body, because }) => {
    upstash.answer({ status: 200, body: `{"result":${body}}` });
    expect(said(await one(store, 'a'))).toMatch(/^unknown-outcome/);
    upstash.answer({ status: 200, body: `{"result":${body}}` });
    expect(said(await one(store, 'a'))).toMatch(because);
  });

  it('takes a page of a gateway for an unknown outcome: the step may have run, and is not sent again', async () => {
    const sent = upstash.requests.length;
    upstash.answer({ status: 502, body: HTML, run: true });
    expect(said(await one(store, 'a'))).toMatch(/^unknown-outcome: Upstash answered 502: "<html>/);
    expect(upstash.requests.length - sent).toBe(1);
    expect(await timesRun(store, 'a')).toBe(1);
  });

  it('says that it was refused when the token is wrong, and does not say the token', async () => {
    const other = upstashStore({ url: upstash.url, token: 'not-the-token' });
    const answer = said(await one(other, 'a'));
    expect(answer).toBe('refused: WRONGPASS invalid or missing auth token');
  });

  it('does not follow a redirect', async () => {
    upstash.answer({ status: 307, body: '', headers: { location: upstash.url } });
    const sent = upstash.requests.length;
    expect(faultOf(await one(store, 'a'))).toBe('refused');
    expect(upstash.requests.length - sent).toBe(1);
  });

  it('is refused by a Redis that is out of memory, and nothing is written', async () => {
    await server.cli('CONFIG', 'SET', 'maxmemory', '1');
    try {
      expect(said(await one(store, 'a'))).toMatch(/^refused: .*OOM/);
    } finally {
      await server.cli('CONFIG', 'SET', 'maxmemory', '0');
    }
    expect(await timesRun(store, 'a')).toBe(0);
  });

  it('says corrupt for a key that holds something else', async () => {
    await one(store, 'a');
    const [key] = (await server.cli('KEYS', '*{a}*')) as readonly string[];
    await server.cli('SET', key as string, 'something else');
    expect(faultOf(await one(store, 'a'))).toBe('corrupt');
  });

  it('says unreachable when nobody listens or the name is not known', async () => {
    const nobody = upstashStore({ url: `http://127.0.0.1:${await freePort()}`, token: 't' });
    expect(said(await one(nobody, 'a'))).toMatch(/^unreachable: .*ECONNREFUSED/);
    const nowhere = upstashStore({ url: 'http://nowhere.invalid', token: 't' });
    expect(faultOf(await one(nowhere, 'a'))).toBe('unreachable');
  });

  it('gives a silent database up after requestTimeoutMs, the first byte of an answer or not', async () => {
    const brief = upstashStore({ url: upstash.url, token: upstash.token }, { requestTimeoutMs: 80 });
    await one(brief, 'before');
    upstash.delay({ afterMs: 300 });
    const started = performance.now();
    expect(said(await one(brief, 'a'))).toBe('unknown-outcome: Upstash has not answered within 80 ms');
    expect(performance.now() - started).toBeLessThan(250);
  });

  it('never rejects, whatever fetch does', async () => {
    vi.stubGlobal('fetch', () => {
      throw new Error('no fetch today');
    });
    expect(said(await one(store, 'a'))).toBe('unknown-outcome: no fetch today');
  });

  it('recovers by itself when the database is back', async () => {
    await server.kill();
    expect(faultOf(await one(store, 'a'))).not.toBe('ok');
    await server.restart();
    await vi.waitFor(async () => expect(faultOf(await one(store, 'b'))).toBe('ok'), { timeout: 3000 });
  });
});
