/** Decisions in SQLite, WAL, synchronous NORMAL, beside rate-limiter-flexible and what SQLite itself takes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { emit } from '../harness/emit.js';
import { race } from '../harness/race.js';
import { part } from '../harness/settings.js';
import { rivals, type Verdict } from '../sqlite/rivals.js';

const [verdict, count] = part.split(' ') as [Verdict, string];
const limits = count === '1' ? 1 : 3;
const folder = mkdtempSync(join(tmpdir(), 'limiter-bench-'));
const roleOf = (name: string) => (name.startsWith('ours') ? 'ours' : name.startsWith('floor') ? 'floor' : 'peer');

try {
  const contenders = (await rivals(folder, verdict, limits)).map(({ name, run }) => {
    let from = 0;
    return {
      name,
      role: roleOf(name),
      step: 256,
      async run(calls: number): Promise<void> {
        for (const end = from + calls; from < end; from += 256) await run(256, from);
      },
    } as const;
  });
  const title = `SQLite: ${limits === 1 ? 'one limit' : 'three limits in one decision'}, ${verdict}`;
  const note = 'The floors ask one question about one row, also where we decide three limits.';
  emit(await race({ id: `sqlite ${part}`, title, ...(limits === 3 ? { note } : {}) }, contenders, { roundMs: 60 }));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit();
