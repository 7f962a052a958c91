/**
 * Asks one file as fast as it can: `hammer FILE CALLS KIND START`. Waits until START (ms since the epoch), then prints
 * how many calls were admitted, which faults came, the longest call and the identities that it created.
 */
import type { Charge, Outcome, Rule, Step } from '@limiter/core';
import { ruleGrid } from '@limiter/core';
import { sqliteStore } from '../../src/index.js';

const [file = '', calls = '0', kind = 'sync', startAt = '0'] = process.argv.slice(2);
const store = sqliteStore(file, { busyTimeout: '2s' });
const HOUR = 3_600_000;

function charge(rule: Rule, name: string, cost: number, value: string): Charge {
  return { ledger: { name, grid: ruleGrid(rule), values: [value] }, rule, cost, holdBack: 0, enforce: true };
}

/** Two limits of different axes and costs: the answer is exact on both, or on none. */
const WINDOW: Rule = {
  algorithm: 'fixed-window',
  limit: 500,
  windowMs: 1_000 * HOUR,
  align: 'first-request',
  offsetMs: 0,
};
const LOG: Rule = { algorithm: 'sliding-window-log', limit: 1_200, windowMs: 1_000 * HOUR };
const step = (i: number) => ({
  op: 'consume' as const,
  charges: [charge(WINDOW, 'test/calls', 1, 'everybody'), charge(LOG, 'test/cost', (i % 3) + 1, 'everybody')],
});

const counts = { calls: 0, cost: 0, faults: [] as string[], longestMs: 0, ids: [] as number[] };

function count(i: number, outcome: Outcome | undefined, tookMs: number): void {
  counts.longestMs = Math.max(counts.longestMs, tookMs);
  if (outcome?.ok !== true) counts.faults.push(String(outcome?.ok === false ? outcome.cause : 'no outcome'));
  else if (outcome.op === 'consume' && outcome.allowed) {
    counts.calls += 1;
    counts.cost += (i % 3) + 1;
  }
}

while (Date.now() < Number(startAt));
const pending: Promise<void>[] = [];
for (let i = 0; i < Number(calls); i += 1) {
  const began = performance.now();
  if (kind === 'one') {
    const one: Step = { op: 'consume', charges: [charge(WINDOW, 'test/one', 1, 'everybody')] };
    count(i, store.runSync(one), performance.now() - began);
  } else if (kind === 'sync') count(i, store.runSync(step(i)), performance.now() - began);
  else if (kind === 'async') {
    pending.push(store.run([step(i)]).then(([outcome]) => count(i, outcome, performance.now() - began)));
    if (i % 20 === 19) await Promise.all(pending.splice(0));
  } else {
    const outcome = store.runSync({
      op: 'consume',
      charges: [charge(WINDOW, 'test/ids', 1, `${process.pid}-${i}`)],
    });
    count(i, outcome, performance.now() - began);
    if (outcome.ok && outcome.op === 'consume') counts.ids.push(outcome.verdicts[0]?.mark?.id ?? -1);
  }
}
await Promise.all(pending);
await store.close?.();
process.stdout.write(JSON.stringify(counts));
