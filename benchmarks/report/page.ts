/** docs/benchmarks.md and its drawings, made from a run. Nothing in them is written by hand. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { REASONS } from '../goals/reasons.js';
import { type Entry, figure, quantile, type Result, ratio } from '../harness/result.js';
import type { Run } from '../harness/run-file.js';
import { type Judged, judged } from './judge.js';
import { draw } from './plots.js';
import { number, spread, table } from './words.js';

const DOCS = join(import.meta.dirname, '..', '..', 'docs');

function header({ machine }: Run): string {
  const { node, cpu, cores, memoryGb, redis, load, date } = machine;
  return `# Benchmarks

Made by \`pnpm bench\`; do not edit. \`pnpm bench --only '^redis'\` measures a part anew; each case's rounds are in
[\`benchmarks/results/latest.json\`](../benchmarks/results/latest.json). What happens when a store fails is in
[its own page](./benchmarks-failure.md).

Measured on ${date}: ${cpu}, ${cores} cores, ${memoryGb} GB, Node ${node}, Redis ${redis}; load average ${load.before} before and ${load.after} after
(the benchmark itself is part of the second).

How to read this:

- **Ratios count, absolute figures do not.** It is a small virtual machine whose neighbours nobody knows, and Redis shares its
  ${cores} cores with the processes that ask. Contenders take turns in short rounds within one process, so that what the machine does
  meanwhile hits all of them; a ratio is taken within each round. A figure is the median of the rounds, in brackets the quartiles.
- A ratio above 1 means that we are faster, or smaller, than the best peer or than the floor.
- **The floor** is written by hand for that one case: no rules, no waits, no receipts. It says what the machine or the
  server takes, not what a library could do.
- Peers answer less: \`limiter\` says yes or no; counters say a number. A full decision here has every limit's remaining, three
  waits and a receipt. Who is not exact is in [Exact](#exact), beside every speed.
- Ours is compiled from the sources by esbuild to plain ES2023, as a build or a bundler does, and runs without a loader; peers
  run as they were installed.`;
}

function goals(run: Run): string {
  const all = judged(run.results);
  const rows = all.map(({ goal, value, verdict }) => [
    goal.group,
    goal.text,
    `${goal.sense} ${number(goal.bound)} ${goal.unit}`,
    value === undefined ? '-' : spread(value),
    verdict === 'met' ? 'met' : `**${verdict}**`,
  ]);
  const count = (verdict: string): number => all.filter((one) => one.verdict === verdict).length;
  return `## Goals\n\n${count('met')} met, ${count('missed')} missed, ${count('not measured')} not measured. The median decides.\n\n${table(['case', 'goal', 'bound', 'figure', ''], rows)}${reasons(all)}`;
}

/** A missed goal without a reason is said to have none. */
function reasons(all: readonly Judged[]): string {
  const groups = [...new Set(all.filter(({ verdict }) => verdict === 'missed').map(({ goal }) => goal.group))];
  if (groups.length === 0) return '';
  const whyOf = (group: string): string => REASONS.find((reason) => reason.group.test(group))?.why ?? 'Not known yet.';
  const whys = new Map<string, string[]>();
  for (const group of groups) whys.set(whyOf(group), [...(whys.get(whyOf(group)) ?? []), group]);
  const lines = [...whys].map(([why, missed]) => `- **${missed.join('; ')}.** ${why}`);
  return `\n\n### Why some are missed\n\n${lines.join('\n')}`;
}

const fileOf = (id: string): string => `benchmarks-${id.replaceAll(/[^a-z0-9]+/gi, '-')}.svg`;

function against(result: Result, entry: Entry, rival: Entry | undefined): string {
  if (rival === undefined || rival === entry || entry.role === 'info') return '';
  const value = result.better === 'more' ? ratio(entry.samples, rival.samples) : ratio(rival.samples, entry.samples);
  return `${spread(value)}x`;
}

function rowsOf(result: Result): string {
  const { entries, unit, expected, axis } = result;
  if (axis !== undefined) {
    const sizes = [...new Set(entries.map(({ x }) => x as number))];
    const names = [...new Set(entries.map(({ name }) => name))];
    const cell = (name: string, size: number): string => {
      const found = entries.find((one) => one.name === name && one.x === size);
      return found === undefined ? '-' : number(figure(found.samples).median);
    };
    return table(
      [`${unit}, by ${axis}`, ...sizes.map(number)],
      names.map((name) => [name, ...sizes.map((size) => cell(name, size))]),
    );
  }
  if (expected !== undefined) {
    const rows = entries.map(({ name, samples: [value = Number.NaN] }) => [
      name,
      number(value),
      value === expected ? 'exact' : `**${value > expected ? 'too many' : 'too few'}**`,
    ]);
    return table(['contender', `${unit}, right is ${expected}`, ''], rows);
  }
  const sign = result.better === 'more' ? -1 : 1;
  const best = (role: Entry['role']): Entry | undefined =>
    entries
      .filter((one) => one.role === role)
      .sort((a, b) => sign * (quantile(a.samples, 0.5) - quantile(b.samples, 0.5)))[0];
  const [peer, floor] = [best('peer'), best('floor')];
  const head = ['contender', unit, ...(peer ? ['to the best peer'] : []), ...(floor ? ['to the floor'] : [])];
  const rows = entries.map((entry) => [
    entry.role === 'ours' ? `**${entry.name}**` : entry.name,
    spread(figure(entry.samples)),
    ...(peer ? [against(result, entry, peer)] : []),
    ...(floor ? [against(result, entry, floor)] : []),
  ]);
  return table(head, rows);
}

function section(result: Result): string {
  const drawing = result.expected === undefined ? `\n\n![${result.title}](./${fileOf(result.id)})` : '';
  const note = result.note === undefined ? '' : `\n\n${result.note}`;
  return `### ${result.title}\n\n${rowsOf(result)}${note}${drawing}`;
}

function sections(results: readonly Result[]): string {
  const groups = new Map<string, Result[]>();
  for (const result of results) {
    const name = result.title.split(':')[0] as string;
    groups.set(name, [...(groups.get(name) ?? []), result]);
  }
  return [...groups].map(([name, all]) => `## ${name}\n\n${all.map(section).join('\n\n')}`).join('\n\n');
}

function failures({ failed }: Run): string {
  const names = Object.keys(failed);
  return names.length === 0 ? '' : `\n\n## Not measured\n\nThese cases ended with an error: ${names.join(', ')}.`;
}

export async function writeReport(run: Run): Promise<void> {
  mkdirSync(DOCS, { recursive: true });
  const stale = readdirSync(DOCS).filter((name) => /^benchmarks-(?!failure).*\.svg$/.test(name));
  for (const name of stale) rmSync(join(DOCS, name));
  for (const result of run.results) {
    if (result.expected === undefined) writeFileSync(join(DOCS, fileOf(result.id)), await draw(result));
  }
  const text = [header(run), goals(run), sections(run.results)].join('\n\n');
  writeFileSync(join(DOCS, 'benchmarks.md'), `${text}${failures(run)}\n`);
}
