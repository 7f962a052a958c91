/**
 * One of several processes that share a limit. For each task, a line of JSON on stdin, it gets ready and says so; the next line
 * lets it begin; it makes its calls, so many at a time, and prints what became of them. Started by processes.ts.
 */
import { createInterface } from 'node:readline';
import { createLimiter, fixedWindow, slidingWindowLog, tokenBucket } from '@limiter/core';
import { Redis } from 'ioredis';
import { redisStore } from '../../src/index.js';

export interface Task {
  readonly port: number;
  readonly prefix: string;
  readonly device: string;
  readonly algorithm: 'fixed-window' | 'sliding-window-log' | 'token-bucket';
  readonly deviceLimit: number;
  /** One call for each: its cost, and the organisation's limit at that time. */
  readonly calls: readonly { readonly cost: number; readonly orgLimit: number }[];
  /** How many calls are under way at once. */
  readonly atOnce: number;
}

/** One call as its caller saw it, on the clock that all processes of a machine share. */
export interface Call {
  readonly startedNs: string;
  readonly endedNs: string;
  readonly cost: number;
  readonly allowed: boolean;
  /** Of the organisation's limit. */
  readonly remaining: number;
}

export interface Report {
  readonly history: readonly Call[];
  readonly admitted: readonly number[];
  readonly refused: readonly number[];
  readonly failed: number;
}

function limitBy(by: 'device' | 'org', algorithm: Task['algorithm'], limit: number) {
  switch (algorithm) {
    case 'fixed-window':
      return fixedWindow({ by, limit, window: '30d', align: 'first-request' });
    case 'sliding-window-log':
      return slidingWindowLog({ by, limit, window: '30d' });
    case 'token-bucket':
      return tokenBucket({ by, capacity: limit, refill: '1/30d' });
  }
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function perform(task: Task, begin: () => Promise<unknown>): Promise<Report> {
  const client = new Redis(task.port, '127.0.0.1');
  const store = redisStore(client, { prefix: task.prefix });
  const { algorithm, device } = task;
  const limiter = createLimiter({
    name: 'shared',
    store,
    limits: { device: limitBy('device', algorithm, task.deviceLimit), org: limitBy('org', algorithm, 1) },
    onStoreFailure: 'throw',
    storeTimeout: '20s',
  });
  await limiter.inspect({ device, org: 'o1' });
  say('ready');
  await begin();
  const admitted: number[] = [];
  const refused: number[] = [];
  const history: Call[] = [];
  let failed = 0;
  for (let from = 0; from < task.calls.length; from += task.atOnce) {
    await Promise.all(
      task.calls.slice(from, from + task.atOnce).map(async ({ cost, orgLimit }) => {
        try {
          const startedNs = String(process.hrtime.bigint());
          const decision = await limiter.consume({ device, org: 'o1' }, { cost, limits: { org: orgLimit } });
          const endedNs = String(process.hrtime.bigint());
          history.push({
            startedNs,
            endedNs,
            cost,
            allowed: decision.allowed,
            remaining: decision.limits.org.remaining,
          });
          (decision.allowed ? admitted : refused).push(cost);
        } catch {
          failed += 1;
        }
      }),
    );
  }
  await limiter.close();
  await store.close();
  client.disconnect();
  return { admitted, refused, failed, history };
}

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
for (let line = await lines.next(); line.done !== true; line = await lines.next()) {
  say(JSON.stringify(await perform(JSON.parse(line.value) as Task, () => lines.next())));
}
