import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type RedisServer, startRedis } from '@limiter/test-servers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

const url = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);

/** Runs a program to its own end; a process that does not end by itself is killed after eight seconds and answers 'killed'. */
async function run(
  program: string,
  port: number,
): Promise<{ readonly said: string; readonly end: string; readonly ms: number }> {
  const text = `
    import { createLimiter, fixedWindow } from '@limiter/core';
    import { Redis } from 'ioredis';
    import { createClient } from '@redis/client';
    import { nodeRedis, redisStore } from ${url('../src/index.ts')};
    const port = ${port};
    const limits = { user: fixedWindow({ limit: 5, window: '1h' }) };
    const options = { name: 'life', limits, onStoreFailure: 'allow', onEvent() {} };
    ${program}
    globalThis.start = performance.now();
    process.on('exit', () => console.log('ended', Math.round(performance.now() - globalThis.start)));
  `;
  const child = spawn(
    process.execPath,
    ['--conditions=@limiter/source', '--import', 'tsx', '--input-type=module', '-e', text],
    { cwd: new URL('..', import.meta.url).pathname, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let said = '';
  child.stdout.on('data', (data: Buffer) => {
    said += data.toString();
  });
  child.stderr.on('data', (data: Buffer) => {
    said += data.toString();
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  clearTimeout(timer);
  return { said, end: signal === null ? `${code}` : 'killed', ms: Number(/ended (\d+)/.exec(said)?.[1] ?? Number.NaN) };
}

const CLIENTS = {
  ioredis: {
    make: "const client = new Redis(port, '127.0.0.1'); client.on('error', () => {}); const store = redisStore(client);",
    end: 'client.disconnect();',
  },
  'node-redis': {
    make: `const client = createClient({ socket: { host: '127.0.0.1', port } }); client.on('error', () => {});
      client.connect().catch(() => {}); const store = redisStore(nodeRedis(client));`,
    end: 'client.destroy();',
  },
};

describe.each(Object.entries(CLIENTS))('%s', (_name, { make, end }) => {
  it('a process whose client has ended ends too, though nobody closed the store', async () => {
    const result = await run(
      `${make} const limiter = createLimiter({ ...options, store });
       console.log('allowed', (await limiter.consume('u')).decidedBy); ${end}`,
      server.port,
    );
    expect(result.said).toContain('allowed store');
    expect(result.end).toBe('0');
    expect(result.ms).toBeLessThan(1500);
  });

  it('the same while the server is away: nothing of the store waits for it for ever', async () => {
    const gone = await startRedis();
    await gone.stop();
    const result = await run(
      `${make} const limiter = createLimiter({ ...options, store });
       console.log('decided by', (await limiter.consume('u')).decidedBy); ${end}`,
      gone.port,
    );
    expect(result.said).toContain('decided by policy');
    expect(result.end).toBe('0');
    // ioredis itself takes two seconds to give up a socket that never was.
    expect(result.ms).toBeLessThan(3000);
  });

  it('a call that is under way keeps the process alive, after the client has ended, too', async () => {
    const result = await run(
      `${make} const limiter = createLimiter({ ...options, store }); await limiter.consume('u'); ${end}
       await new Promise((resolve) => setTimeout(resolve, 50));
       limiter.consume('u').then((decision) => console.log('then decided by', decision.decidedBy));`,
      server.port,
    );
    expect(result.said).toContain('then decided by store');
    expect(result.end).toBe('0');
  });

  it('close() ends what the store opened and leaves the client alone', async () => {
    const result = await run(
      `${make} const limiter = createLimiter({ ...options, store }); await limiter.consume('u');
       await store.close();
       console.log('after', (await limiter.consume('u')).reason);
       ${end}`,
      server.port,
    );
    expect(result.said).toContain('after store-failure');
    expect(result.end).toBe('0');
    expect(result.ms).toBeLessThan(1500);
  });
});
