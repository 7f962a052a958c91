/** One to four processes ask one Redis as fast as they can, 256 in flight each. This program is also each of them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createLimiter, tokenBucket } from '@limiter/core';
import { redisStore } from '@limiter/redis';
import { startRedis } from '@limiter/test-servers';
import { Redis } from 'ioredis';
import { emit } from '../harness/emit.js';
import { inFlight } from '../harness/race.js';
import type { Entry } from '../harness/result.js';
import { quick, roundsOr } from '../harness/settings.js';

const DURATION_MS = quick ? 100 : 1_000;
const self = fileURLToPath(import.meta.url);

async function hammer(port: number, startAt: number): Promise<number> {
  const store = redisStore(new Redis(port, '127.0.0.1'));
  const limits = { one: tokenBucket({ capacity: 1_000_000_000, refill: '10/1s' }) };
  const limiter = createLimiter({ name: 'api', store, limits, onStoreFailure: 'throw', storeTimeout: '10s' });
  const run = inFlight(256, (i) => limiter.consume(`user:${i % 1_000}`));
  while (Date.now() < startAt) await run(256);
  let calls = 0;
  while (Date.now() < startAt + DURATION_MS) {
    await run(1_024);
    calls += 1_024;
  }
  return calls;
}

async function together(port: number, processes: number): Promise<number> {
  const startAt = Date.now() + 600 + 200 * processes;
  const counts = await Promise.all(
    Array.from({ length: processes }, async () => {
      const child = spawn(process.execPath, ['--no-warnings', self, 'hammer', String(port), String(startAt)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let text = '';
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      await once(child, 'close');
      return Number(text);
    }),
  );
  return counts.reduce((sum, one) => sum + one, 0) / (DURATION_MS / 1_000);
}

if (process.argv[2] === 'hammer') {
  process.stdout.write(String(await hammer(Number(process.argv[3]), Number(process.argv[4]))));
  process.exit();
}
const server = await startRedis();
const samples = new Map<number, number[]>([1, 2, 3, 4].map((processes) => [processes, []]));
for (let round = 0; round < Math.min(3, roundsOr(3)); round += 1) {
  for (const [processes, list] of samples) list.push(await together(server.port, processes));
}
const entries = [...samples].map(([x, list]): Entry => ({ name: 'decisions', role: 'ours', x, samples: list }));
emit({
  id: 'growth processes',
  title: 'Growth: processes on one Redis, 256 in flight each',
  unit: 'decisions a second',
  better: 'more',
  axis: 'processes',
  entries,
  note: 'Processes and server share the cores of this machine.',
});
await server.stop();
process.exit();
