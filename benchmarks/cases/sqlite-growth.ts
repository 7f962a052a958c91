/** SQLite: a sliding log by its live entries; several processes on one file. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { emit } from '../harness/emit.js';
import type { Entry } from '../harness/result.js';
import { part, quick } from '../harness/settings.js';
import { growth } from '../sqlite/growth.js';
import { beOneOfThem, type Run, together } from '../sqlite/processes.js';

await beOneOfThem();
const folder = mkdtempSync(join(tmpdir(), 'limiter-bench-'));

/** Whole laps, since a size is filled and asked for seconds before the next one: a disturbance hits one size of one lap. */
const LAPS = quick ? 1 : 3;

async function logs(): Promise<void> {
  const sizes = quick ? [10, 100] : [10, 1_000, 100_000];
  const laps: Awaited<ReturnType<typeof growth>>[] = [];
  for (let lap = 0; lap < LAPS; lap += 1) laps.push(await growth(mkdtempSync(join(folder, 'lap-')), sizes));
  const samples = (row: number, size: number): number[] => laps.map((lap) => lap[row]?.us[size] as number);
  const entries = (laps[0] ?? []).flatMap(({ name }, row) =>
    sizes.map((x, size): Entry => ({ name, role: 'ours', x, samples: samples(row, size) })),
  );
  emit({
    id: 'growth log sqlite',
    title: 'Growth: live entries of a sliding log, in SQLite',
    unit: 'us of CPU a step',
    better: 'less',
    axis: 'entries',
    entries,
  });
}

async function processes(): Promise<void> {
  const runs: Run[] = [];
  for (const count of quick ? [1] : [1, 2, 4]) {
    runs.push(await together(join(folder, `shared-${count}.db`), count, 'allowed'));
  }
  const rows = (value: (run: Run) => number): Entry[] =>
    runs.map((run) => ({ name: 'allowed', role: 'ours', x: run.processes, samples: [value(run)] }));
  const about = { axis: 'processes', better: 'less' } as const;
  emit({
    ...about,
    id: 'sqlite processes',
    title: 'SQLite: processes on one file',
    unit: 'decisions a second',
    better: 'more',
    entries: rows(({ perSecond }) => perSecond),
  });
  emit({
    ...about,
    id: 'sqlite stall',
    title: 'SQLite: the longest call, processes on one file',
    unit: 'ms',
    entries: rows(({ longestMs }) => longestMs),
  });
  emit({
    ...about,
    id: 'sqlite faults',
    title: 'SQLite: faults that reached a caller, processes on one file',
    unit: 'faults',
    entries: rows(({ faults }) => faults),
  });
}

try {
  await (part === 'log' ? logs() : processes());
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit();
