/**
 * Charges one ledger, three limits at a time, until it is killed: `victim FILE`. After each admitted call it writes a byte,
 * so that its parent knows how many were answered.
 */
import { writeSync } from 'node:fs';
import type { Rule } from '@limiter/core';
import { ruleGrid } from '@limiter/core';
import { sqliteStore } from '../../src/index.js';

const store = sqliteStore(process.argv[2] ?? '', { busyTimeout: '2s' });
const windowMs = 2 ** 41;
const rules: readonly Rule[] = [
  { algorithm: 'fixed-window', limit: 1_000_000, windowMs, align: 'first-request', offsetMs: 0 },
  { algorithm: 'sliding-window-log', limit: 1_000_000, windowMs },
  { algorithm: 'fixed-window', limit: 1_000_000, windowMs: windowMs - 1, align: 'first-request', offsetMs: 0 },
];
const charges = rules.map((rule, i) => ({
  ledger: { name: `victim/limit${i}`, grid: ruleGrid(rule), values: ['everybody'] },
  rule,
  cost: 1,
  holdBack: 0,
  enforce: true,
}));
function say(text: string): void {
  for (;;) {
    try {
      writeSync(1, text);
      return;
    } catch (error) {
      // The pipe is full: its reader has other things to do.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  }
}

for (;;) {
  const outcome = store.runSync({ op: 'consume', charges });
  say(outcome.ok && outcome.op === 'consume' && outcome.allowed ? '.' : `!${JSON.stringify(outcome)}`);
}
