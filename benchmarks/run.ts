/**
 * Measures everything and writes benchmarks/results/latest.json, docs/benchmarks.md and its drawings.
 *
 *   pnpm bench                      all of it, about ten minutes; wants a quiet machine
 *   pnpm bench --only '^redis'      these cases anew, the others as they were
 *   pnpm bench --rounds 5 --quick   only that everything runs; writes nothing
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CASES } from './catalog.js';
import { programs } from './harness/build.js';
import { runChild } from './harness/child.js';
import { describeMachine, loadNow } from './harness/machine.js';
import type { Result } from './harness/result.js';
import { joined, merged, type Run } from './harness/run-file.js';
import { compare } from './report/compare.js';
import { writeReport } from './report/page.js';
import { summary } from './report/summary.js';

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string' },
    quick: { type: 'boolean', default: false },
    'report-only': { type: 'boolean', default: false },
  },
});
const FILE = join(import.meta.dirname, 'results', 'latest.json');

function last(): Run | undefined {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8')) as Run;
  } catch {
    return undefined;
  }
}

async function measure(): Promise<Run> {
  const pattern = new RegExp(flags.only ?? '');
  const chosen = CASES.filter(({ id }) => pattern.test(id));
  if (chosen.length === 0)
    throw new Error(`no case is called like ${flags.only}; there are: ${CASES.map(({ id }) => id).join(', ')}`);
  const before = loadNow();
  const entries = [...new Set(chosen.map(({ program }) => program))];
  const paths = new Map((await programs(entries)).map((path, i) => [entries[i], path]));
  const rounds = flags.rounds === undefined ? undefined : Number(flags.rounds);
  const results: Result[] = [];
  const failed: Record<string, string> = {};
  for (const { id, program, part, nodeArgs = [], limitMs = 120_000 } of chosen) {
    const began = performance.now();
    const report = await runChild(paths.get(program) as string, part, {
      nodeArgs,
      quick: flags.quick,
      rounds,
      limitMs,
    });
    results.push(...report.results);
    if (report.failure !== undefined) failed[id] = report.failure;
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    console.log(`${report.failure === undefined ? 'done' : 'FAILED'}  ${id} (${seconds} s)`);
    if (report.failure !== undefined) console.log(report.failure);
  }
  return { format: 1, machine: await describeMachine(before), results: joined(results), failed };
}

const previous = last();
const run = flags['report-only'] && previous !== undefined ? previous : await measure();
console.log(summary(run.results));
if (!flags.quick) {
  if (previous !== undefined && !flags['report-only']) console.log(compare(previous, run));
  const whole = flags['report-only'] ? run : merged(previous, run);
  writeFileSync(FILE, `${JSON.stringify(whole)}\n`);
  // In the house's format, so that a diff of two runs can be read.
  execFileSync(join(import.meta.dirname, '..', 'node_modules', '.bin', 'biome'), ['format', '--write', FILE]);
  await writeReport(whole);
  // Quotes some of the figures.
  execFileSync(process.execPath, [...process.execArgv, join(import.meta.dirname, '..', 'scripts', 'store-table.ts')]);
}
if (Object.keys(run.failed).length > 0) process.exitCode = 1;
