/** The simplest store that keeps the contract: a map of ledgers, core's `evaluate`, a clock that is turned by hand. */
import {
  type AdjustStep,
  type AskStep,
  adjust,
  type Change,
  evaluate,
  type Ledger,
  type LedgerState,
  type LogChange,
  type LogState,
  type Outcome,
  type Rule,
  type Step,
  type SyncStore,
  type Traits,
} from '../../src/index.js';

interface Log {
  id: number;
  entries: { at: number; cost: number; kept: number }[];
}

export interface NaiveStore extends SyncStore {
  /** The time of the next steps. */
  now: number;
  /** What each ledger holds, as text, for asking whether anything changed. */
  dump(): string;
  /** How many steps were decided. */
  readonly decided: number;
}

export function naiveStore(traits: Partial<Traits> = {}, clock?: () => number): NaiveStore {
  const ledgers = new Map<string, LedgerState | Log>();
  const once = new Set<string>();
  let ids = 0;
  let decided = 0;
  const time = clock ?? (() => store.now);
  const newId = (): number => {
    ids += 1;
    return ids;
  };
  const keyOf = (ledger: Ledger): string => JSON.stringify([ledger.name, ledger.grid, ledger.values, ledger.slot]);
  const read = (ledger: Ledger, rule: Rule): LedgerState | undefined => {
    const stored = ledgers.get(keyOf(ledger));
    if (stored === undefined || rule.algorithm !== 'sliding-window-log') return stored as LedgerState | undefined;
    return logState(stored as Log);
  };
  const write = (ledger: Ledger, rule: Rule, change: Change | undefined): void => {
    if (change === undefined) return;
    const key = keyOf(ledger);
    ledgers.set(
      key,
      rule.algorithm === 'sliding-window-log'
        ? changedLog(ledgers.get(key) as Log | undefined, change as LogChange)
        : (change as LedgerState),
    );
  };

  function ask(step: AskStep): Outcome {
    const states = step.charges.map(({ ledger, rule }) => read(ledger, rule));
    const { outcome, changes } = evaluate(step, states, time(), newId);
    step.charges.forEach(({ ledger, rule }, i) => {
      write(ledger, rule, changes[i]);
    });
    return outcome;
  }

  function correct(step: AdjustStep): Outcome {
    const now = time();
    if (step.once !== undefined && once.has(step.once.key)) {
      return { ok: true, op: 'adjust', now, closed: true, adjusted: [] };
    }
    if (step.once !== undefined) once.add(step.once.key);
    const adjusted = step.adjustments.map((adjustment) => {
      const answer = adjust(adjustment, read(adjustment.ledger, adjustment.rule), now, newId);
      write(adjustment.ledger, adjustment.rule, answer.change);
      return answer.adjusted;
    });
    return { ok: true, op: 'adjust', now, closed: false, adjusted };
  }

  const store: NaiveStore = {
    now: 1_000_000,
    traits: {
      sync: true,
      atomic: 'always',
      clock: 'own',
      durable: 'no',
      fails: 'possible',
      algorithms: ['fixed-window', 'sliding-window-log', 'token-bucket'],
      ...traits,
    } as SyncStore['traits'],
    async run(steps, signal) {
      const unsent: Outcome = { ok: false, fault: 'unreachable', cause: signal?.reason };
      return steps.map((step) => (signal?.aborted ? unsent : store.runSync(step)));
    },
    runSync(step: Step): Outcome {
      decided += 1;
      if (step.op === 'adjust') return correct(step);
      if (step.op !== 'reset') return ask(step);
      for (const ledger of step.ledgers) ledgers.delete(keyOf(ledger));
      return { ok: true, op: 'reset', now: time() };
    },
    dump: () => JSON.stringify([...ledgers]),
    get decided() {
      return decided;
    },
  };
  return store;
}

function logState(log: Log): LogState {
  const after = (time: number): Log['entries'] => log.entries.filter((entry) => entry.at > time);
  return {
    id: log.id,
    newestAt: log.entries.at(-1)?.at ?? 0,
    usedAfter: (time) => after(time).reduce((sum, entry) => sum + entry.kept, 0),
    timeOfUnit(amount, time) {
      let passed = 0;
      for (const entry of after(time)) {
        passed += entry.kept;
        if (passed >= amount) return entry.at;
      }
      throw new RangeError('fewer units than that are used');
    },
    entry: (position) => log.entries[position],
    nextPosition: log.entries.length,
  };
}

function changedLog(log: Log | undefined, change: LogChange): Log {
  const next: Log = change.create === undefined && log !== undefined ? log : { id: change.create ?? 0, entries: [] };
  for (const entry of next.entries) entry.at -= change.shiftMs;
  if (change.append !== undefined) next.entries.push({ ...change.append, kept: change.append.cost });
  const entry = change.giveBack === undefined ? undefined : next.entries[change.giveBack.position];
  if (entry !== undefined) entry.kept -= change.giveBack?.amount ?? 0;
  return next;
}
