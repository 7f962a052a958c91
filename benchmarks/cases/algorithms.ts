/**
 * "20 in 60 seconds", by three algorithms, of the same real traffic: what each admits, the worst trailing 60 seconds of a client
 * beside the bound that the docs promise, the time and the bytes that it takes.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { createLimiter, fixedWindow, slidingWindowLog, tokenBucket } from '@limiter/core';
import { memoryStore } from '@limiter/memory';
import { DEMO_LOG, lineParser } from '@limiter/replay';
import { emit } from '../harness/emit.js';
import { race } from '../harness/race.js';
import type { Entry } from '../harness/result.js';

const LIMIT = 20;
const WINDOW_MS = 60_000;

interface Hit {
  readonly at: number;
  readonly client: string;
}

async function traffic(): Promise<Hit[]> {
  const parse = lineParser();
  const hits: Hit[] = [];
  for await (const line of createInterface({ input: createReadStream(DEMO_LOG).pipe(createGunzip()) })) {
    const parsed = parse(line);
    if (typeof parsed === 'object') hits.push({ at: parsed.at, client: parsed.client });
  }
  return hits.sort((a, b) => a.at - b.at);
}

const ALGORITHMS = {
  'fixed window': { limit: fixedWindow({ limit: LIMIT, window: '60s' }), bound: 2 * LIMIT },
  'sliding log': { limit: slidingWindowLog({ limit: LIMIT, window: '60s' }), bound: LIMIT },
  'token bucket': { limit: tokenBucket({ capacity: LIMIT, refill: '20/60s' }), bound: 2 * LIMIT },
} as const;

type Name = keyof typeof ALGORITHMS;
const names = Object.keys(ALGORITHMS) as Name[];
const hits = await traffic();

function judge(name: Name): Hit[] {
  let now = 0;
  const limits: Record<string, (typeof ALGORITHMS)[Name]['limit']> = { ip: ALGORITHMS[name].limit };
  const limiter = createLimiter({ name: 'web', store: memoryStore({ clock: () => now }), limits });
  return hits.filter((hit) => {
    now = hit.at;
    return limiter.consumeSync(hit.client).allowed;
  });
}

/** The most that one client was admitted within any 60 seconds. */
function worstWindow(admitted: readonly Hit[]): number {
  const byClient = new Map<string, number[]>();
  let worst = 0;
  for (const { at, client } of admitted) {
    const times = byClient.get(client) ?? [];
    byClient.set(client, times);
    times.push(at);
    while ((times[0] as number) <= at - WINDOW_MS) times.shift();
    worst = Math.max(worst, times.length);
  }
  return worst;
}

const rows = (value: (name: Name) => number): Entry[] =>
  names.map((name) => ({ name, role: 'ours', samples: [value(name)] }));
const admitted = new Map(names.map((name) => [name, judge(name)]));
emit({
  id: 'algorithms admitted',
  title: `Algorithms: admitted of ${hits.length.toLocaleString('en')} real requests, 20 in 60 s a client`,
  unit: 'requests',
  better: 'more',
  entries: rows((name) => (admitted.get(name) as Hit[]).length),
});
emit({
  id: 'algorithms worst',
  title: 'Algorithms: the most that one client got in any 60 s',
  unit: 'requests',
  better: 'less',
  entries: [
    ...rows((name) => worstWindow(admitted.get(name) as Hit[])),
    ...names.map((name): Entry => ({ name: `bound of the ${name}`, role: 'info', samples: [ALGORITHMS[name].bound] })),
  ],
});
const contenders = names.map((name) => {
  const limits: Record<string, (typeof ALGORITHMS)[Name]['limit']> = { ip: ALGORITHMS[name].limit };
  let now = 0;
  let at = 0;
  const first = hits[0] as Hit;
  const span = (hits.at(-1) as Hit).at - first.at + WINDOW_MS;
  let lap = 0;
  const limiter = createLimiter({ name: 'web', store: memoryStore({ clock: () => now }), limits });
  return {
    name,
    role: 'ours',
    run(calls: number): void {
      for (let i = 0; i < calls; i += 1) {
        const hit = hits[at] as Hit;
        now = hit.at + lap * span;
        limiter.consumeSync(hit.client);
        at += 1;
        if (at === hits.length) {
          at = 0;
          lap += 1;
        }
      }
    },
  } as const;
});
emit(
  await race({ id: 'algorithms time', title: 'Algorithms: time a decision, the same traffic, in memory' }, contenders),
);
process.exit();
