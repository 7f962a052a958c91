/** Where the time of a synchronous decision in memory goes, by the sampling profiler, and what it allocates. */
import { Session } from 'node:inspector/promises';
import { createLimiter, tokenBucket } from '@limiter/core';
import { memoryStore } from '@limiter/memory';
import { emit } from '../harness/emit.js';
import type { Entry } from '../harness/result.js';
import { quick } from '../harness/settings.js';

const SHOWN = 14;
const ample = tokenBucket({ capacity: 1_000_000_000, refill: '10/1s' });
const limiter = createLimiter({ name: 'api', store: memoryStore(), limits: { user: ample } });

function decide(times: number): void {
  for (let i = 0; i < times; i += 1) limiter.consumeSync('user:1');
}

const NAMES: Readonly<Record<string, string>> = {
  '': 'an unnamed function',
  '(program)': 'Node itself',
  decide: 'the loop of this case',
};

async function shares(): Promise<Entry[]> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 200 });
  await session.post('Profiler.start');
  decide(quick ? 100_000 : 5_000_000);
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  const names = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame.functionName]));
  const times = new Map<string, number>();
  for (const [i, id] of (profile.samples ?? []).entries()) {
    const name = names.get(id) ?? '';
    times.set(name, (times.get(name) ?? 0) + (profile.timeDeltas?.[i] ?? 0));
  }
  const all = [...times.values()].reduce((sum, one) => sum + one, 0);
  const sorted = [...times].sort(([, a], [, b]) => b - a);
  const rest = sorted.slice(SHOWN).reduce((sum, [, one]) => sum + one, 0);
  const shown: [string, number][] = [...sorted.slice(0, SHOWN), ['everything else', rest]];
  return shown.map(([name, time]) => ({ name: NAMES[name] ?? name, role: 'info', samples: [(100 * time) / all] }));
}

/** With a young generation so large that nothing is collected meanwhile. */
function allocated(): number {
  const times = 20_000;
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  decide(times);
  return (process.memoryUsage().heapUsed - before) / times;
}

decide(quick ? 10_000 : 1_000_000);
emit({
  id: 'memory profile',
  title: 'Memory: where the time of a synchronous decision goes',
  unit: '% of the samples',
  better: 'less',
  entries: await shares(),
  note: 'By function, without what it calls. `readClock` is the reading of the clock; the engine inlines small functions into their callers.',
});
emit({
  id: 'memory allocated',
  title: 'Memory: what a synchronous decision allocates',
  unit: 'bytes',
  better: 'less',
  entries: [{ name: 'one limit, admitted', role: 'ours', samples: [allocated()] }],
});
process.exit(0);
