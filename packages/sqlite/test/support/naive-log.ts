/** A sliding log as a list of all its entries, and one ledger of it over core's `evaluate` and `adjust`: what a store must answer. */
import {
  type Adjustment,
  type AdjustOutcome,
  type AskOutcome,
  type AskStep,
  adjust,
  evaluate,
  type LogChange,
  type LogState,
} from '@limiter/core';

class NaiveLog implements LogState {
  readonly id = 1;
  newestAt = 0;
  nextPosition = 0;
  entries: { at: number; kept: number; readonly position: number }[] = [];

  usedAfter(after: number): number {
    return this.entries.filter(({ at }) => at > after).reduce((sum, { kept }) => sum + kept, 0);
  }

  timeOfUnit(amount: number, after: number): number {
    let passed = 0;
    for (const { at, kept } of this.entries) {
      if (at > after) passed += kept;
      if (passed >= amount) return at;
    }
    throw new RangeError(`there are ${passed} units, not ${amount}`);
  }

  entry(position: number): { at: number; kept: number } | undefined {
    return this.entries.find((entry) => entry.position === position);
  }

  store({ shiftMs, append, giveBack }: LogChange, windowMs: number): void {
    for (const entry of this.entries) entry.at -= shiftMs;
    this.newestAt -= shiftMs;
    if (append !== undefined) {
      this.entries = this.entries.filter(({ at }) => at > append.at - windowMs);
      this.entries.push({ at: append.at, kept: append.cost, position: this.nextPosition });
      this.newestAt = append.at;
      this.nextPosition += 1;
    }
    const entry = giveBack === undefined ? undefined : this.entry(giveBack.position);
    if (entry !== undefined && giveBack !== undefined) entry.kept -= giveBack.amount;
  }
}

export class NaiveLedger {
  #log: NaiveLog | undefined;
  readonly #windowMs: number;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  get live(): number {
    return this.#log?.entries.length ?? 0;
  }

  ask(step: AskStep, now: number): AskOutcome {
    const { outcome, changes } = evaluate(step, [this.#log], now, () => 1);
    this.#store(changes[0] as LogChange | undefined);
    return outcome;
  }

  adjust(adjustment: Adjustment, now: number): AdjustOutcome {
    const { adjusted, change } = adjust(adjustment, this.#log, now, () => 1);
    this.#store(change as LogChange | undefined);
    return { ok: true, op: 'adjust', now, closed: false, adjusted: [adjusted] };
  }

  #store(change: LogChange | undefined): void {
    if (change === undefined) return;
    this.#log ??= new NaiveLog();
    this.#log.store(change, this.#windowMs);
  }
}
