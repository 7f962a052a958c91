/** Does a decision in this process take longer with more keys, more limits, more log entries? */
import { createLimiter, tokenBucket } from '@limiter/core';
import { memoryStore } from '@limiter/memory';
import { emit } from '../harness/emit.js';
import { type Contender, race } from '../harness/race.js';
import type { Entry, Result } from '../harness/result.js';
import { part, quick } from '../harness/settings.js';
import { FIRST, firstAfterSilence, log, QUESTIONS, SILENT_LOGS } from './memory-log.js';

const ample = tokenBucket({ capacity: 1_000_000_000, refill: '10/1h' });

/** Keys in disorder. */
function keys(count: number): Contender {
  const limiter = createLimiter({ name: 'api', store: memoryStore({ max: count }), limits: { a: ample } });
  const names = Array.from({ length: count }, (_, i) => `user:${i}`);
  const order = Uint32Array.from({ length: 1 << 20 }, () => Math.floor(Math.random() * count));
  for (const name of names) limiter.consumeSync(name);
  let at = 0;
  return {
    name: String(count),
    role: 'ours',
    run(calls) {
      for (let i = 0; i < calls; i += 1) {
        at = (at + 1) & ((1 << 20) - 1);
        limiter.consumeSync(names[order[at] as number] as string);
      }
    },
  };
}

/** What the processor's caches alone do to keys in disorder. */
function map(count: number): Contender {
  const table = new Map(Array.from({ length: count }, (_, i) => [`user:${i}`, { used: 0 }]));
  const names = [...table.keys()];
  const order = Uint32Array.from({ length: 1 << 20 }, () => Math.floor(Math.random() * count));
  let at = 0;
  return {
    name: String(count),
    role: 'floor',
    run(calls) {
      for (let i = 0; i < calls; i += 1) {
        at = (at + 1) & ((1 << 20) - 1);
        const row = table.get(names[order[at] as number] as string);
        if (row !== undefined) row.used += 1;
      }
    },
  };
}

function limits(count: number): Contender {
  const named = Object.fromEntries(Array.from({ length: count }, (_, i) => [`limit${i}`, ample]));
  const limiter = createLimiter({ name: 'api', store: memoryStore(), limits: named });
  return {
    name: String(count),
    role: 'ours',
    run(calls) {
      for (let i = 0; i < calls; i += 1) limiter.consumeSync('user:1');
    },
  };
}

/** The contenders are named by their size: that becomes `x`. */
function grown(result: Result, axis: string, name: string): Result {
  const entries = result.entries.map(
    ({ samples, ...entry }): Entry => ({ ...entry, x: Number(entry.name), name, samples }),
  );
  return { ...result, axis, entries };
}

if (part === 'keys') {
  const sizes = quick ? [1_000, 10_000] : [1_000, 10_000, 100_000, 1_000_000];
  const about = { id: 'growth keys', title: 'Growth: keys in memory, asked in disorder' };
  const ours = grown(await race(about, sizes.map(keys)), 'keys', 'a decision');
  const floor = grown(await race(about, sizes.map(map)), 'keys', 'a Map alone');
  emit({ ...ours, entries: [...ours.entries, ...floor.entries] });
}
if (part === 'limits') {
  const result = await race(
    { id: 'growth limits', title: 'Growth: limits in one decision, in memory' },
    [1, 2, 3, 4, 6, 8].map(limits),
  );
  emit(grown(result, 'limits', 'a decision'));
}
if (part === 'log') {
  const sizes = quick ? [10, 1_000] : [10, 1_000, 100_000];
  const about = {
    id: 'growth log memory',
    title: 'Growth: live entries of a sliding log, in memory',
    note: `The first charge after silence is that of ${SILENT_LOGS} logs in turn, which fall silent together.`,
  };
  const all: Entry[] = [];
  for (const question of QUESTIONS) {
    const result = await race(
      about,
      sizes.map((size) => log(size, question)),
      { roundMs: 8 },
    );
    all.push(...grown(result, 'entries', question).entries);
  }
  all.push(...sizes.map((x): Entry => ({ name: FIRST, role: 'ours', x, samples: firstAfterSilence(x) })));
  emit({ ...about, unit: 'ns a call', better: 'less', axis: 'entries', entries: all });
}
process.exit(0);
