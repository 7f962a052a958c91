/** What a question to a sliding window log costs with few and with many entries, also as an attacker would ask it. */
import { join } from 'node:path';
import { type AskStep, type Mark, ruleGrid, type SlidingWindowLogRule, type Step, type SyncStore } from '@limiter/core';
import { sqliteStore } from '@limiter/sqlite';
import { quantile } from './rounds.js';

const WINDOW_MS = 2 ** 40;
const ROUNDS = 31;

export interface Growth {
  readonly name: string;
  /** CPU us a step, by the number of live entries. */
  readonly us: readonly number[];
}

/** One log with `entries` live entries, on a clock that is turned by hand. */
class Log {
  readonly store: SyncStore;
  now = 2 ** 41;
  readonly entries: number;
  readonly marks: Mark[] = [];

  constructor(folder: string, entries: number, name: string) {
    this.store = sqliteStore(join(folder, `log-${name}-${entries}.db`), { clock: () => this.now });
    this.entries = entries;
  }

  step(op: AskStep['op'], cost: number, limit: number = this.entries): Step {
    const rule: SlidingWindowLogRule = { algorithm: 'sliding-window-log', limit, windowMs: WINDOW_MS };
    const ledger = { name: 'bench/log', grid: ruleGrid(rule), values: ['someone'] };
    return { op, charges: [{ ledger, rule, cost, holdBack: 0, enforce: true }] };
  }

  refund(mark: Mark): Step {
    const rule: SlidingWindowLogRule = { algorithm: 'sliding-window-log', limit: this.entries, windowMs: WINDOW_MS };
    const ledger = { name: 'bench/log', grid: ruleGrid(rule), values: ['someone'] };
    return { op: 'adjust', adjustments: [{ ledger, rule, mark, charged: 1, change: 'give-back', amount: 1 }] };
  }

  /** Full: one entry every `spreadMs`. */
  async fill(spreadMs = 1): Promise<this> {
    for (let i = 0; i < this.entries; ) {
      this.now += spreadMs;
      const outcome = this.store.runSync(this.step('consume', 1));
      if (outcome.ok && outcome.op === 'consume') this.marks.push(outcome.verdicts[0]?.mark as Mark);
      i += 1;
    }
    return this;
  }
}

/** Median CPU time of `calls` steps at a time. `before` prepares each and is not counted. */
function cpuUs(calls: number, act: (i: number) => void): number {
  for (let i = 0; i < calls; i += 1) act(i);
  const seen: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = process.cpuUsage();
    for (let i = 0; i < calls; i += 1) act(round * calls + i);
    const { user, system } = process.cpuUsage(before);
    seen.push((user + system) / calls);
  }
  return quantile(seen, 0.25);
}

function must(log: Log, step: Step): void {
  const outcome = log.store.runSync(step);
  if (!outcome.ok) throw outcome.cause;
}

export async function growth(folder: string, sizes: readonly number[]): Promise<readonly Growth[]> {
  const rows = new Map<string, number[]>();
  const note = (name: string, us: number): void => void rows.set(name, [...(rows.get(name) ?? []), us]);
  for (const entries of sizes) {
    const full = await new Log(folder, entries, 'full').fill();
    const deny = (name: string, cost: number): void => {
      const step = full.step('consume', cost);
      note(
        name,
        cpuUs(200, () => must(full, step)),
      );
    };
    const peek = full.step('peek', 1);
    note(
      'peek',
      cpuUs(200, () => must(full, peek)),
    );
    deny('denied, cost 1', 1);
    deny('denied, cost = the limit', entries);
    deny('denied, half the limit', Math.ceil(entries / 2) + 1);
    deny('denied, a third of the limit', Math.ceil(entries / 3) + 1);
    // The window slides: each call admits one entry and one expires.
    const slide = full.step('consume', 1, entries + 1);
    full.now += WINDOW_MS - entries;
    note(
      'admitted, the window sliding',
      cpuUs(100, () => {
        full.now += 1;
        must(full, slide);
      }),
    );

    const refunded = await new Log(folder, entries, 'refunded').fill();
    const every = Math.max(1, Math.floor(entries / 1_000));
    const refunds = refunded.marks.filter((_, i) => i % every === 0).map((mark) => refunded.refund(mark));
    const before = process.cpuUsage();
    for (const step of refunds) must(refunded, step);
    const { user, system } = process.cpuUsage(before);
    note('refund', (user + system) / refunds.length);
    const half = refunded.step('consume', Math.ceil(entries / 2) + 1, Math.max(1, entries - refunds.length));
    note(
      'denied, half the limit, up to 1,000 live refunds',
      cpuUs(200, () => must(refunded, half)),
    );
    const admit = refunded.step('consume', 1, entries * 2 + 100_000);
    note(
      'admitted, up to 1,000 live refunds',
      cpuUs(100, () => must(refunded, admit)),
    );

    const silent = await new Log(folder, entries, 'silent').fill();
    silent.now += WINDOW_MS - Math.floor(entries / 2);
    const peekHalf = silent.step('peek', 1);
    note(
      'peek, half of it expired',
      cpuUs(200, () => must(silent, peekHalf)),
    );
    silent.now += WINDOW_MS;
    note(
      'peek, all expired',
      cpuUs(200, () => must(silent, peekHalf)),
    );
    const began = process.cpuUsage();
    must(silent, silent.step('consume', 1));
    const first = process.cpuUsage(began);
    note('first charge after all expired (once)', first.user + first.system);
    for (const { store } of [full, refunded, silent]) await store.close?.();
  }
  return [...rows].map(([name, us]) => ({ name, us }));
}
