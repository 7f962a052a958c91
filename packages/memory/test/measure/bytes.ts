/**
 * Bytes a key and the time of a full collection, for a million keys. The key strings are made before and kept, so what is
 * reported is what the store adds to them.
 *
 * Run: node --expose-gc --conditions=@limiter/source --import tsx packages/memory/test/measure/bytes.ts [keys]
 * Each case has a process of its own.
 */
import { execFileSync } from 'node:child_process';
import { type AskStep, type Rule, ruleGrid } from '@limiter/core';
import { memoryStore } from '../../src/index.js';

const RULES = {
  window: { algorithm: 'fixed-window', limit: 100, windowMs: 3_600_000, align: 'clock', offsetMs: 0 },
  bucket: { algorithm: 'token-bucket', capacity: 100, refillTokens: 100, refillMs: 3_600_000 },
  log: { algorithm: 'sliding-window-log', limit: 100, windowMs: 3_600_000 },
} as const satisfies Record<string, Rule>;

const CASES: Record<string, readonly Rule[]> = {
  'one fixed window': [RULES.window],
  'one token bucket': [RULES.bucket],
  'one sliding log, 1 entry': [RULES.log],
  'three fixed windows': [RULES.window, RULES.window, RULES.window],
  'three token buckets': [RULES.bucket, RULES.bucket, RULES.bucket],
  'window, bucket and log': [RULES.window, RULES.bucket, RULES.log],
};

function collect(): void {
  if (globalThis.gc === undefined) throw new Error('run me with --expose-gc');
  globalThis.gc();
  globalThis.gc();
}

function bytes(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function fullCollectionMs(): number {
  const laps: number[] = [];
  for (let i = 0; i < 5; i += 1) {
    const start = process.cpuUsage();
    globalThis.gc?.();
    laps.push((process.cpuUsage(start).user + process.cpuUsage(start).system) / 1000);
  }
  return Math.min(...laps);
}

function measure(name: string, rules: readonly Rule[], count: number): void {
  const keys = Array.from({ length: count }, (_, i) => `user:${i}`);
  const before = bytes();
  const idleMs = fullCollectionMs();
  const store = memoryStore({ max: count });
  for (const key of keys) {
    const charges = rules.map((rule, i) => ({
      ledger: { name: `api/limit${i}`, grid: ruleGrid(rule), values: [key] },
      rule,
      cost: 1,
      holdBack: 0,
      enforce: true,
    }));
    const step: AskStep = { op: 'consume', charges };
    store.runSync(step);
  }
  const after = bytes();
  const { size } = store.stats();
  const perKey = ((after - before) / size).toFixed(0);
  const collection = fullCollectionMs();
  console.log(
    `${name.padEnd(26)} ${size} keys: ${perKey} bytes a key, a full collection takes ${collection.toFixed(0)} ms of CPU (${idleMs.toFixed(0)} ms without the store)`,
  );
}

const count = process.argv[2] ?? '1000000';
const chosen = process.argv[3];
if (chosen !== undefined) measure(chosen, CASES[chosen] ?? [], Number(count));
else {
  for (const name of Object.keys(CASES)) {
    const args = [...process.execArgv, process.argv[1] ?? '', count, name];
    process.stdout.write(execFileSync(process.execPath, args));
  }
}
