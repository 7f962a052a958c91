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

async function logs(): Promise<void> {
  const sizes = quick ? [10, 100] : [10, 1_000, 100_000];
  const rows = await growth(folder, sizes);
  const entries = rows.flatMap(({ name, us }) =>
    us.map((one, i): Entry => ({ name, role: 'ours', x: sizes[i] as number, samples: [one] })),
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
