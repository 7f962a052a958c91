/** Several processes charge one file as fast as they can: calls a second, the longest call, faults. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { ruleGrid, type Step, type TokenBucketRule } from '@limiter/core';
import { sqliteStore } from '@limiter/sqlite';
import { quantile } from './rounds.js';

export interface Run {
  readonly processes: number;
  readonly kind: 'allowed' | 'denied';
  readonly perSecond: number;
  readonly p99Ms: number;
  readonly longestMs: number;
  readonly faults: number;
}

interface Report {
  readonly calls: number;
  readonly p99Ms: number;
  readonly longestMs: number;
  readonly faults: number;
}

const DURATION_MS = 4_000;
const HAMMER = 'hammer';

export async function together(file: string, processes: number, kind: Run['kind']): Promise<Run> {
  const startAt = Date.now() + 2_000 + 500 * processes;
  const reports = await Promise.all(
    Array.from({ length: processes }, async () => {
      const child = spawn(
        process.execPath,
        [...process.execArgv, process.argv[1] as string, HAMMER, file, kind, String(startAt)],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      );
      let text = '';
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      await once(child, 'close');
      return JSON.parse(text) as Report;
    }),
  );
  return {
    processes,
    kind,
    perSecond: reports.reduce((sum, { calls }) => sum + calls, 0) / (DURATION_MS / 1_000),
    p99Ms: Math.max(...reports.map(({ p99Ms }) => p99Ms)),
    longestMs: Math.max(...reports.map(({ longestMs }) => longestMs)),
    faults: reports.reduce((sum, { faults }) => sum + faults, 0),
  };
}

async function hammer(file: string, kind: string, startAt: number): Promise<Report> {
  const store = sqliteStore(file);
  const rule: TokenBucketRule = {
    algorithm: 'token-bucket',
    capacity: kind === 'allowed' ? 1_000_000_000 : 0,
    refillTokens: 1,
    refillMs: 1_000,
  };
  const step = (i: number): Step => ({
    op: 'consume',
    charges: [
      {
        ledger: { name: 'bench/shared', grid: ruleGrid(rule), values: [`customer-${i % 100}`] },
        rule,
        cost: 1,
        holdBack: 0,
        enforce: true,
      },
    ],
  });
  for (let i = 0; i < 500; i += 1) store.runSync(step(i));
  while (Date.now() < startAt);
  const took: number[] = [];
  let faults = 0;
  const began = performance.now();
  for (let at = began; at < began + DURATION_MS; ) {
    if (!store.runSync(step(took.length)).ok) faults += 1;
    const now = performance.now();
    took.push(now - at);
    at = now;
  }
  await store.close?.();
  return {
    calls: took.length,
    faults,
    p99Ms: quantile(took, 0.99),
    longestMs: took.reduce((longest, one) => Math.max(longest, one), 0),
  };
}

/** A program that calls `together` calls this first: it is also what each of the processes runs. */
export async function beOneOfThem(): Promise<void> {
  const [as, file = '', kind = '', startAt = '0'] = process.argv.slice(2);
  if (as !== HAMMER) return;
  process.stdout.write(JSON.stringify(await hammer(file, kind, Number(startAt))));
  process.exit();
}
