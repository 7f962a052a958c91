import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { type RedisServer, startRedis, startUpstash, type UpstashServer } from '@limiter/test-servers';
import { build } from 'vite';
import { afterAll, beforeAll, expect, it } from 'vitest';

let server: RedisServer;
let upstash: UpstashServer;
let bundle: string;

beforeAll(async () => {
  server = await startRedis();
  upstash = await startUpstash(server);
  const outDir = await mkdtemp(join(tmpdir(), 'limiter-edge-'));
  await build({
    configFile: false,
    logLevel: 'silent',
    resolve: { conditions: ['@limiter/source', 'module', 'browser'] },
    build: {
      outDir,
      minify: false,
      lib: {
        entry: join(import.meta.dirname, 'support/edge-entry.ts'),
        formats: ['iife'],
        name: 'edge',
        fileName: 'edge',
      },
    },
  });
  bundle = await readFile(join(outDir, 'edge.iife.js'), 'utf8');
  await rm(outDir, { recursive: true });
});
afterAll(async () => {
  await upstash.stop();
  await server.stop();
});

/** What every edge runtime has, and nothing else: no process, no Buffer, no setImmediate, timers that are numbers. */
function edgeGlobals(): Record<string, unknown> {
  const timers = new Map<number, NodeJS.Timeout>();
  return {
    fetch,
    Headers,
    Response,
    AbortController,
    AbortSignal,
    crypto,
    performance: { now: () => performance.now() },
    queueMicrotask,
    setTimeout: (run: () => void, ms?: number) => {
      timers.set(timers.size + 1, setTimeout(run, ms));
      return timers.size;
    },
    clearTimeout: (id: number) => clearTimeout(timers.get(id)),
    console,
  };
}

it('the store and the core are one bundle without a module of Node', () => {
  expect(bundle).not.toMatch(/node:|__vite-browser-external|\brequire\(/);
});

it('which decides where there are only the globals of the web, with timers that are numbers', async () => {
  const context = createContext(edgeGlobals());
  runInContext(`${bundle}\nglobalThis.edge = edge;`, context);
  const { decide } = (context as { edge: typeof import('./support/edge-entry.js') }).edge;
  expect(await decide(upstash.url, upstash.token)).toEqual([true, true, false]);
});
