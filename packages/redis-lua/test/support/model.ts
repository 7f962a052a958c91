/** The reference: core's own `evaluate` and `adjust` over states in memory, with a log that keeps every entry and adds them up one by one. */
import {
  type AdjustStep,
  type AskStep,
  adjust,
  type BucketState,
  type Change,
  evaluate,
  type Ledger,
  type LedgerState,
  type LogChange,
  type LogState,
  type Outcome,
  type Rule,
  type Step,
  type WindowState,
} from '@limiter/core';

class NaiveLog implements LogState {
  readonly id: number;
  readonly entries: { at: number; kept: number }[] = [];
  newestAt = 0;

  constructor(id: number) {
    this.id = id;
  }

  get nextPosition(): number {
    return this.entries.length;
  }

  usedAfter(after: number): number {
    let used = 0;
    for (const { at, kept } of this.entries) if (at > after) used += kept;
    return used;
  }

  timeOfUnit(amount: number, after: number): number {
    let passed = 0;
    for (const { at, kept } of this.entries) {
      if (at <= after) continue;
      passed += kept;
      if (passed >= amount) return at;
    }
    throw new RangeError(`the log holds ${passed}, asked for ${amount}`);
  }

  entry(position: number): { at: number; kept: number } | undefined {
    return this.entries[position];
  }

  apply({ shiftMs, append, giveBack }: LogChange): void {
    for (const entry of this.entries) entry.at -= shiftMs;
    this.newestAt -= shiftMs;
    if (append !== undefined) {
      this.entries.push({ at: append.at, kept: append.cost });
      this.newestAt = append.at;
    }
    const entry = giveBack === undefined ? undefined : this.entries[giveBack.position];
    if (entry !== undefined && giveBack !== undefined) entry.kept -= giveBack.amount;
  }
}

export class Model {
  readonly #states = new Map<string, LedgerState>();
  readonly #closed = new Map<string, number>();
  #lastId = 0;

  run(step: Step, now: number): Outcome {
    if (step.op === 'adjust') return this.#adjust(step, now);
    if (step.op !== 'reset') return this.#ask(step, now);
    for (const ledger of step.ledgers) this.#states.delete(nameOf(ledger));
    return { ok: true, op: 'reset', now };
  }

  #ask(step: AskStep, now: number): Outcome {
    const states = step.charges.map(({ ledger }) => this.#states.get(nameOf(ledger)));
    const { outcome, changes } = evaluate(step, states, now, this.#newId);
    for (const [i, { ledger, rule }] of step.charges.entries()) this.#keep(ledger, rule, changes[i]);
    return outcome;
  }

  #adjust({ adjustments, once }: AdjustStep, now: number): Outcome {
    if (once !== undefined) {
      const marker = `${once.key} ${once.beside.slot ?? JSON.stringify(once.beside.values)}`;
      if (now < (this.#closed.get(marker) ?? 0)) return { ok: true, op: 'adjust', now, closed: true, adjusted: [] };
      this.#closed.set(marker, now + once.ttlMs);
    }
    const adjusted = adjustments.map((adjustment) => {
      const done = adjust(adjustment, this.#states.get(nameOf(adjustment.ledger)), now, this.#newId);
      this.#keep(adjustment.ledger, adjustment.rule, done.change);
      return done.adjusted;
    });
    return { ok: true, op: 'adjust', now, closed: false, adjusted };
  }

  readonly #newId = (): number => {
    this.#lastId += 1;
    return this.#lastId;
  };

  #keep(ledger: Ledger, rule: Rule, change: Change | undefined): void {
    if (change === undefined) return;
    const name = nameOf(ledger);
    if (rule.algorithm !== 'sliding-window-log') {
      this.#states.set(name, change as WindowState | BucketState);
      return;
    }
    const logChange = change as LogChange;
    const log = logChange.create === undefined ? (this.#states.get(name) as NaiveLog) : new NaiveLog(logChange.create);
    log.apply(logChange);
    this.#states.set(name, log);
  }
}

const nameOf = ({ name, grid, slot, values }: Ledger): string => JSON.stringify([name, grid, slot ?? null, values]);
