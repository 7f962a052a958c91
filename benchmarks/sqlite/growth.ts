/** What a question to a sliding window log costs with few and with many entries, also as an attacker would ask it. */
import { join } from 'node:path';
import { type AskStep, type Mark, ruleGrid, type SlidingWindowLogRule, type Step, type SyncStore } from '@limiter/core';
import { sqliteStore } from '@limiter/sqlite';
import { quantile } from './rounds.js';

const ROUNDS = 31;

export interface Growth {
  readonly name: string;
  /** CPU us a step, by the number of live entries. */
  readonly us: readonly number[];
}

/** One log of `entries` ms, on a clock that is turned by hand: with one entry a ms it is full, and a ms later one expires. */
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
    const rule: SlidingWindowLogRule = { algorithm: 'sliding-window-log', limit, windowMs: this.entries };
    const ledger = { name: 'bench/log', grid: ruleGrid(rule), values: ['someone'] };
    return { op, charges: [{ ledger, rule, cost, holdBack: 0, enforce: true }] };
  }

  refund(mark: Mark): Step {
    const rule: SlidingWindowLogRule = { algorithm: 'sliding-window-log', limit: this.entries, windowMs: this.entries };
    const ledger = { name: 'bench/log', grid: ruleGrid(rule), values: ['someone'] };
    return { op: 'adjust', adjustments: [{ ledger, rule, mark, charged: 1, change: 'give-back', amount: 1 }] };
  }

  /** Full: one entry a ms. */
  fill(): this {
    for (let i = 0; i < this.entries; i += 1) {
      this.now += 1;
      const outcome = this.store.runSync(this.step('consume', 1));
      if (outcome.ok && outcome.op === 'consume') this.marks.push(outcome.verdicts[0]?.mark as Mark);
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

/** Carries out a step and sees that it was answered as the case means it. */
function must(log: Log, step: Step, allowed?: boolean): void {
  const outcome = log.store.runSync(step);
  if (!outcome.ok) throw outcome.cause;
  if (outcome.op === 'consume' && outcome.allowed !== (allowed ?? false)) throw new Error('answered the other way');
}

export async function growth(folder: string, sizes: readonly number[]): Promise<readonly Growth[]> {
  const rows = new Map<string, number[]>();
  const note = (name: string, us: number): void => void rows.set(name, [...(rows.get(name) ?? []), us]);
  for (const entries of sizes) {
    const full = new Log(folder, entries, 'full').fill();
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
    // The window slides: each call admits one entry while one expires.
    const slide = full.step('consume', 1);
    note(
      'admitted, the window sliding',
      cpuUs(100, () => {
        full.now += 1;
        must(full, slide, true);
      }),
    );

    const refunded = new Log(folder, entries, 'refunded').fill();
    const every = Math.max(1, Math.floor(entries / 1_000));
    const refunds = refunded.marks.filter((_, i) => i % every === 0).map((mark) => refunded.refund(mark));
    const took: number[] = [];
    for (const step of refunds) {
      const began = process.cpuUsage();
      must(refunded, step);
      const { user, system } = process.cpuUsage(began);
      took.push(user + system);
    }
    note('refund', quantile(took, 0.5));
    const half = refunded.step('consume', Math.ceil(entries / 2) + 1, Math.max(1, entries - refunds.length));
    note(
      'denied, half the limit, up to 1,000 live refunds',
      cpuUs(200, () => must(refunded, half)),
    );
    const admit = refunded.step('consume', 1);
    note(
      'admitted, up to 1,000 live refunds, the window sliding',
      cpuUs(Math.min(100, Math.ceil(entries / 50)), () => {
        refunded.now += 1;
        must(refunded, admit, true);
      }),
    );

    const silent = new Log(folder, entries, 'silent').fill();
    silent.now += Math.floor(entries / 2);
    const peekHalf = silent.step('peek', 1);
    note(
      'peek, half of it expired',
      cpuUs(200, () => must(silent, peekHalf)),
    );
    silent.now += entries;
    note(
      'peek, all expired',
      cpuUs(200, () => must(silent, peekHalf)),
    );
    // Each of these logs is charged for the first time after its silence; fewer where they are long to fill.
    const first: number[] = [];
    for (let i = 0; i < (entries > 10_000 ? 5 : 40); i += 1) {
      const log = new Log(folder, entries, `silent-${i}`).fill();
      log.now += 2 * entries;
      const began = process.cpuUsage();
      must(log, log.step('consume', 1), true);
      const { user, system } = process.cpuUsage(began);
      first.push(user + system);
      void log.store.close?.();
    }
    note('first charge after all expired', quantile(first, 0.5));
    for (const { store } of [full, refunded, silent]) await store.close?.();
  }
  return [...rows].map(([name, us]) => ({ name, us }));
}
