/** One ledger driven by hand: states kept in a variable, time passed in. A log is a plain list, walked from end to end. */
import type { AskStep, Change, LedgerState, LogChange, LogState, Mark, Rule, Verdict } from '../../src/index.js';
import { adjust, evaluate } from '../../src/index.js';

const ledger = { name: 'test/limit', grid: '', values: ['a'] };

class ListLog implements LogState {
  entries: { at: number; kept: number }[] = [];
  readonly id: number;
  constructor(id: number) {
    this.id = id;
  }
  get newestAt(): number {
    return (this.entries.at(-1) as { at: number }).at;
  }
  get nextPosition(): number {
    return this.entries.length;
  }
  usedAfter(after: number): number {
    return this.entries.reduce((sum, entry) => sum + (entry.at > after ? entry.kept : 0), 0);
  }
  timeOfUnit(amount: number, after: number): number {
    let passed = 0;
    for (const entry of this.entries) {
      if (entry.at > after) passed += entry.kept;
      if (passed >= amount) return entry.at;
    }
    throw new RangeError('more than is used');
  }
  entry(position: number): { at: number; kept: number } | undefined {
    return this.entries[position];
  }
  apply(change: LogChange): void {
    for (const entry of this.entries) entry.at -= change.shiftMs;
    if (change.append !== undefined) this.entries.push({ at: change.append.at, kept: change.append.cost });
    if (change.giveBack === undefined) return;
    const entry = this.entries[change.giveBack.position];
    if (entry !== undefined) entry.kept -= change.giveBack.amount;
  }
}

export interface OneLedger {
  rule: Rule;
  readonly state: () => LedgerState | undefined;
  consume(now: number, cost: number, holdBack?: number): Verdict;
  peek(now: number, cost: number, holdBack?: number): Verdict;
  giveBack(now: number, mark: Mark | undefined, charged: number, amount: number): number;
  chargeMore(now: number, amount: number): { readonly charged: number; readonly cut: number };
}

export function oneLedger(rule: Rule): OneLedger {
  let state: LedgerState | undefined;
  let ids = 0;
  const newId = (): number => (ids += 1);
  const store = (change: Change | undefined): void => {
    if (change === undefined) return;
    if (!('shiftMs' in change)) {
      state = change;
      return;
    }
    const log = change.create === undefined ? (state as ListLog) : new ListLog(change.create);
    log.apply(change);
    state = log;
  };
  const ask = (op: AskStep['op'], now: number, cost: number, holdBack: number): Verdict => {
    const step: AskStep = { op, charges: [{ ledger, rule: one.rule, cost, holdBack, enforce: true }] };
    const { outcome, changes } = evaluate(step, [state], now, newId);
    store(changes[0]);
    return outcome.verdicts[0] as Verdict;
  };
  const change = (
    now: number,
    part: { change: 'give-back' | 'charge'; mark: Mark | undefined; charged: number; amount: number },
  ) => {
    const answer = adjust({ ledger, rule: one.rule, ...part }, state, now, newId);
    store(answer.change);
    return answer.adjusted;
  };
  const one: OneLedger = {
    rule,
    state: () => state,
    consume: (now, cost, holdBack = 0) => ask('consume', now, cost, holdBack),
    peek: (now, cost, holdBack = 0) => ask('peek', now, cost, holdBack),
    giveBack: (now, mark, charged, amount) => change(now, { change: 'give-back', mark, charged, amount }).givenBack,
    chargeMore: (now, amount) => change(now, { change: 'charge', mark: undefined, charged: 0, amount }),
  };
  return one;
}
