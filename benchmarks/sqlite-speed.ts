/**
 * SQLite, beside rate-limiter-flexible and what SQLite itself takes. Prints Markdown; `--write` puts it into the README of
 * packages/sqlite between its markers. `--only=speed|growth|processes`, `--rounds=N`.
 *
 *     node --conditions=@limiter/source --import tsx benchmarks/sqlite-speed.ts
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { growth } from './sqlite/growth.js';
import { beOneOfThem, together } from './sqlite/processes.js';
import { rivals, type Verdict } from './sqlite/rivals.js';
import { race } from './sqlite/rounds.js';

await beOneOfThem();
const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string', default: '25' },
    write: { type: 'boolean', default: false },
  },
});
const folder = mkdtempSync(join(tmpdir(), 'limiter-bench-'));
const wants = (part: string): boolean => options.only === undefined || options.only === part;
const k = (perSecond: number): string => `${(perSecond / 1_000).toFixed(1)}k`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map((_, i) => (i === 0 ? '---' : '---:')), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

async function speed(verdict: Verdict, count: 1 | 3): Promise<string> {
  const speeds = await race(await rivals(folder, verdict, count), Number(options.rounds), 60);
  const peers = speeds.filter(({ name }) => name.startsWith('rate-limiter-flexible'));
  const best = Math.max(...peers.map(({ perSecond }) => perSecond));
  const bestCpu = Math.min(...peers.map(({ cpuUs }) => cpuUs));
  const rows = speeds.map(({ name, perSecond, quartiles: [low, high], cpuUs }) => [
    name,
    `${k(perSecond)} (${k(low)} - ${k(high)})`,
    `${(perSecond / best).toFixed(1)}x`,
    cpuUs.toFixed(1),
    `${(bestCpu / cpuUs).toFixed(1)}x`,
  ]);
  const title = `${count === 1 ? 'one limit' : 'three limits in one decision'}, ${verdict}`;
  return table([title, 'calls a second (quartiles)', 'to the peer', 'CPU us', 'to the peer, CPU'], rows);
}

async function logs(): Promise<string> {
  const sizes = [10, 1_000, 100_000];
  const rows = (await growth(folder, sizes)).map(({ name, us }) => [
    name,
    ...us.map((one) => one.toFixed(1)),
    `${((us.at(-1) as number) / (us[0] as number)).toFixed(1)}x`,
  ]);
  return table(['sliding log, CPU us a step', ...sizes.map((n) => `${n.toLocaleString('en')} entries`), 'ratio'], rows);
}

async function processes(): Promise<string> {
  const rows: string[][] = [];
  for (const kind of ['allowed', 'denied'] as const) {
    for (const n of [1, 2, 4]) {
      const { perSecond, p99Ms, longestMs, faults } = await together(join(folder, `shared-${kind}-${n}.db`), n, kind);
      rows.push([`${n}, ${kind}`, k(perSecond), p99Ms.toFixed(2), longestMs.toFixed(1), String(faults)]);
    }
  }
  return table(['processes on one file', 'calls a second', 'p99 ms', 'longest call ms', 'faults'], rows);
}

try {
  const parts: string[] = [];
  if (wants('speed')) {
    parts.push(await speed('allowed', 1), await speed('denied', 1));
    parts.push(await speed('allowed', 3), await speed('denied', 3));
  }
  if (wants('growth')) parts.push(await logs());
  if (wants('processes')) parts.push(await processes());
  const machine = `Node ${process.versions.node}, ${cpus().length} cores (${cpus()[0]?.model.trim()}), load ${loadavg()[1]?.toFixed(1)}, WAL, synchronous NORMAL. Ratios count, absolute figures are of one shared machine.`;
  const text = [machine, ...parts].join('\n\n');
  console.log(text);
  if (options.write) {
    const readme = new URL('../packages/sqlite/README.md', import.meta.url);
    const [before = '', rest = ''] = readFileSync(readme, 'utf8').split('<!-- figures -->');
    const after = rest.split('<!-- /figures -->')[1] ?? '';
    writeFileSync(readme, `${before}<!-- figures -->\n\n${text}\n\n<!-- /figures -->${after}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
