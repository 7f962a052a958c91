/**
 * The tables of docs/choosing-a-store.md: what the stores say of themselves (their traits) and what the benchmarks measured.
 * `node --conditions=@limiter/source --import tsx scripts/store-table.ts` writes them; a test compares.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Store } from '@limiter/core';
import { memoryStore } from '@limiter/memory';
import { redisStore } from '@limiter/redis';
import { sqliteStore } from '@limiter/sqlite';
import { upstashStore } from '@limiter/upstash';
import { Cluster, Redis } from 'ioredis';

const PAGE = new URL('../docs/choosing-a-store.md', import.meta.url);
const RESULTS = new URL('../benchmarks/results/latest.json', import.meta.url);

/** One of each, none of which connects: an idle client of ioredis waits to be asked. */
function everyStore(): readonly (readonly [name: string, store: Store])[] {
  const idle = new Redis({ lazyConnect: true });
  const cluster = new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true });
  return [
    ['memory', memoryStore()],
    ['SQLite', sqliteStore(':memory:')],
    ['Redis, Sentinel', redisStore(idle)],
    ['Redis Cluster', redisStore(cluster)],
    ['Upstash', upstashStore({ url: 'https://example.invalid', token: 'none' })],
  ];
}

const YES_NO = { always: 'yes, any number of ledgers', 'same-slot': 'in one slot (`hashTag`)' } as const;
const DURABLE = { no: 'no', eventually: 'as the server persists', yes: 'yes' } as const;

async function traitsTable(): Promise<string> {
  const rows: string[] = [];
  for (const [name, store] of everyStore()) {
    const { sync, atomic, durable, fails, clock, algorithms } = store.traits;
    rows.push(
      `| ${name} | ${YES_NO[atomic]} | ${sync ? 'yes' : 'no'} | ${DURABLE[durable]} | ${fails === 'never' ? 'cannot' : 'you choose'} | ${clock} | ${algorithms.length} |`,
    );
    await store.close?.();
  }
  return [
    '| store | atomic over several limits | `consumeSync` | survives a restart | when it fails | clock | algorithms |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

interface Measured {
  readonly results: readonly {
    readonly id: string;
    readonly unit: string;
    readonly entries: readonly { readonly name: string; readonly role: string; readonly samples: readonly number[] }[];
  }[];
}

/** The rows that say something of a store: id of a result, and what it is to a reader. */
const ROWS: readonly (readonly [id: string, what: string])[] = [
  ['memory hot-allowed', 'memory, one key, one limit, `consumeSync`'],
  ['memory three-allowed', 'memory, three limits, `consumeSync`'],
  ['sqlite allowed 1', 'SQLite (WAL), one limit, `consumeSync`'],
  ['redis latency', 'Redis on loopback, one limit, one at a time'],
  ['redis one', 'Redis on loopback, one limit, 256 in flight'],
  ['redis three', 'Redis on loopback, three limits, 256 in flight'],
];

function measuredTable(): string {
  if (!existsSync(RESULTS)) return 'Not measured yet.';
  const { results } = JSON.parse(readFileSync(RESULTS, 'utf8')) as Measured;
  const rows = ROWS.flatMap(([id, what]) => {
    const result = results.find((candidate) => candidate.id === id);
    const ours = result?.entries.find((entry) => entry.role === 'ours');
    if (result === undefined || ours === undefined) return [];
    const sorted = [...ours.samples].sort((a, b) => a - b);
    return [`| ${what} | ${figureOf(sorted[Math.floor(sorted.length / 2)] as number)} ${result.unit} |`];
  });
  return ['| decision | median |', '| --- | ---: |', ...rows].join('\n');
}

function figureOf(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);
}

/** The page with its tables made anew. */
export async function withTables(page: string): Promise<string> {
  const between = (text: string, name: string, table: string): string =>
    text.replace(
      new RegExp(`<!-- ${name} -->[\\s\\S]*<!-- /${name} -->`),
      () => `<!-- ${name} -->\n\n${table}\n\n<!-- /${name} -->`,
    );
  return between(between(page, 'traits', await traitsTable()), 'measured', measuredTable());
}

if (process.argv[1] !== undefined && import.meta.url.endsWith(process.argv[1].replace(/^.*\//, '/'))) {
  writeFileSync(PAGE, await withTables(readFileSync(PAGE, 'utf8')));
}
