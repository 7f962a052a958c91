/** The smallest complete store: a Map in this process. core's `evaluate` and `adjust` decide, this file keeps what they say. */
import {
  type Adjustment,
  type AskStep,
  adjust,
  type BucketState,
  type Change,
  evaluate,
  fullAgainAt,
  type Ledger,
  type LedgerState,
  type LogChange,
  type LogState,
  type Outcome,
  type Rule,
  type Step,
  type SyncStore,
  type WindowState,
} from '@limiter/core';

/** A sliding log as a list of entries, oldest first. Its times are shifted when the clock was set back. */
class ListLog implements LogState {
  readonly entries: { at: number; kept: number; readonly position: number }[] = [];
  newestAt = 0;
  nextPosition = 0;
  readonly id: number;

  constructor(id: number) {
    this.id = id;
  }

  usedAfter(after: number): number {
    return this.entries.reduce((sum, entry) => (entry.at > after ? sum + entry.kept : sum), 0);
  }

  timeOfUnit(amount: number, after: number): number {
    let passed = 0;
    for (const entry of this.entries) {
      if (entry.at <= after) continue;
      passed += entry.kept;
      if (passed >= amount) return entry.at;
    }
    throw new RangeError(`the log holds ${passed}, asked for ${amount}`);
  }

  entry(position: number): { at: number; kept: number } | undefined {
    return this.entries.find((entry) => entry.position === position);
  }

  apply(change: LogChange, windowMs: number): void {
    for (const entry of this.entries) entry.at -= change.shiftMs;
    this.newestAt -= change.shiftMs;
    if (change.append !== undefined) {
      const { at, cost } = change.append;
      // What no longer counts may go: the newest entry is the log's anchor, everything a window older than it is past.
      while (this.entries[0] !== undefined && this.entries[0].at <= at - windowMs) this.entries.shift();
      this.entries.push({ at, kept: cost, position: this.nextPosition });
      this.newestAt = at;
      this.nextPosition += 1;
    }
    if (change.giveBack !== undefined) {
      const entry = this.entry(change.giveBack.position);
      if (entry !== undefined) entry.kept -= change.giveBack.amount;
    }
  }
}

interface Stored {
  readonly state: LedgerState;
  /** From here on the budget is full again and the ledger may be forgotten. */
  readonly fullAgainAt: number;
}

/** What several handles may share. */
export class PlainData {
  readonly ledgers: Map<string, Stored> = new Map();
  /** Markers of `once`, and until when each is kept. */
  readonly closed: Map<string, number> = new Map();
  lastId = 0;

  dump(): string {
    return JSON.stringify([...this.ledgers].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

export interface PlainStoreOptions {
  /** The store's clock, whole ms since the Unix epoch. Default: the process clock. */
  readonly clock?: () => number;
  readonly data?: PlainData;
}

export function plainStore(options: PlainStoreOptions = {}): SyncStore {
  const { clock = Date.now, data = new PlainData() } = options;
  const { ledgers, closed } = data;
  const newId = (): number => {
    data.lastId += 1;
    return data.lastId;
  };

  /** JSON keeps the parts apart whatever they contain, lone surrogates included. */
  const keyOf = ({ name, grid, slot, values }: Ledger): string => JSON.stringify([name, grid, slot ?? null, values]);

  function keep(key: string, rule: Rule, change: Change | undefined): void {
    if (change === undefined) return;
    if (rule.algorithm !== 'sliding-window-log') {
      const state = change as WindowState | BucketState;
      ledgers.set(key, { state, fullAgainAt: fullAgainAt(rule, state) });
      return;
    }
    const logChange = change as LogChange;
    const log = logChange.create === undefined ? (ledgers.get(key)?.state as ListLog) : new ListLog(logChange.create);
    log.apply(logChange, rule.windowMs);
    ledgers.set(key, { state: log, fullAgainAt: log.newestAt + rule.windowMs });
  }

  function ask(step: AskStep, now: number): Outcome {
    const keys = step.charges.map((charge) => keyOf(charge.ledger));
    const states = keys.map((key) => ledgers.get(key)?.state);
    const { outcome, changes } = evaluate(step, states, now, newId);
    for (const [i, key] of keys.entries()) keep(key, step.charges[i]!.rule, changes[i]);
    return outcome;
  }

  function adjustOne(adjustment: Adjustment, now: number): ReturnType<typeof adjust>['adjusted'] {
    const key = keyOf(adjustment.ledger);
    const { adjusted, change } = adjust(adjustment, ledgers.get(key)?.state, now, newId);
    keep(key, adjustment.rule, change);
    return adjusted;
  }

  function runSync(step: Step): Outcome {
    const now = clock();
    forget(now);
    switch (step.op) {
      case 'consume':
      case 'peek':
        return ask(step, now);
      case 'reset':
        for (const ledger of step.ledgers) ledgers.delete(keyOf(ledger));
        return { ok: true, op: 'reset', now };
      case 'adjust': {
        if (step.once !== undefined) {
          const { key, ttlMs } = step.once;
          if ((closed.get(key) ?? 0) > now) return { ok: true, op: 'adjust', now, closed: true, adjusted: [] };
          closed.set(key, now + ttlMs);
        }
        const adjusted = step.adjustments.map((adjustment) => adjustOne(adjustment, now));
        return { ok: true, op: 'adjust', now, closed: false, adjusted };
      }
    }
  }

  /** A few ledgers a step, in turn: what is full again leaves, without a timer. */
  let sweep = ledgers.entries();
  function forget(now: number): void {
    for (let i = 0; i < 3; i += 1) {
      const next = sweep.next();
      if (next.done === true) {
        sweep = ledgers.entries();
        for (const [key, until] of closed) if (until <= now) closed.delete(key);
        return;
      }
      const [key, stored] = next.value;
      if (stored.fullAgainAt <= now) ledgers.delete(key);
    }
  }

  return {
    traits: {
      sync: true,
      atomic: 'always',
      clock: options.clock === undefined ? 'own' : 'caller',
      durable: 'no',
      fails: 'never',
      algorithms: ['fixed-window', 'sliding-window-log', 'token-bucket'],
    },
    run: async (steps) => steps.map(runSync),
    runSync,
  };
}
