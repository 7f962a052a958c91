import { readFileSync } from 'node:fs';
import { type RedisServer, startRedis } from '@limiter/test-servers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { generated } from '../scripts/build-script.js';
import { script, scriptSha1 } from '../src/index.js';

let server: RedisServer;

beforeAll(async () => {
  server = await startRedis();
});

afterAll(() => server.stop());

it('the published program is what lua/ says', () => {
  const published = readFileSync(new URL('../src/script.generated.ts', import.meta.url), 'utf8');
  // pnpm --filter @limiter/redis-lua lua
  expect(published).toBe(generated());
});

it('the server names the program by the same SHA-1', async () => {
  expect(await server.cli('SCRIPT', 'LOAD', script)).toBe(scriptSha1);
});

it('the program is plain text that any transport can carry', () => {
  expect(script).toMatch(/^[\n\x20-\x7e]+$/);
});
