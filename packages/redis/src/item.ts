/** One step of one caller, on its way: what the caller of `ask` made, or one step of a `run`. */
import type { Asking, DeadlineSignal, Outcome, Step } from '@limiter/core';
import { unwatch, watch } from './signals.js';

export type Item = Asking;

/** Does anybody still wait for it? */
export function timeLeft(item: Item, now: number): boolean {
  return !item.aborted && item.deadlineAt > now;
}

/** The steps of one `run`, each with what came of it. */
export class Run {
  readonly items: readonly Item[];
  readonly #outcomes: Outcome[];
  /** Steps without an outcome; below 0 once the run has failed. */
  #left: number;
  readonly #resolve: (outcomes: readonly Outcome[]) => void;
  readonly #reject: (error: unknown) => void;

  constructor(
    steps: readonly Step[],
    signal: DeadlineSignal | undefined,
    staleAfterMs: number,
    resolve: (outcomes: readonly Outcome[]) => void,
    reject: (error: unknown) => void,
  ) {
    this.items = steps.map((step, index) => new RunItem(this, index, step, signal, staleAfterMs));
    this.#outcomes = new Array(steps.length);
    this.#left = steps.length;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  answer(index: number, outcome: Outcome): void {
    this.#outcomes[index] = outcome;
    this.#left -= 1;
    if (this.#left === 0) this.#resolve(this.#outcomes);
  }

  fail(error: unknown): void {
    this.#left = -1;
    this.#reject(error);
  }
}

class RunItem implements Item {
  readonly step: Step;
  readonly #run: Run;
  readonly #index: number;
  readonly #signal: DeadlineSignal | undefined;
  readonly #staleAfterMs: number;
  #onAbort: (() => void) | undefined = undefined;

  constructor(run: Run, index: number, step: Step, signal: DeadlineSignal | undefined, staleAfterMs: number) {
    this.step = step;
    this.#run = run;
    this.#index = index;
    this.#signal = signal;
    this.#staleAfterMs = staleAfterMs;
  }

  /** Where the signal does not say it, so long after now; without a signal never. */
  get deadlineAt(): number {
    if (this.#signal === undefined) return Number.POSITIVE_INFINITY;
    return this.#signal.deadlineAt ?? performance.now() + this.#staleAfterMs;
  }

  get aborted(): boolean {
    return this.#signal?.aborted === true;
  }

  get reason(): unknown {
    return this.#signal?.reason;
  }

  get onAbort(): (() => void) | undefined {
    return this.#onAbort;
  }

  set onAbort(listener: (() => void) | undefined) {
    if (this.#signal !== undefined && this.#onAbort !== undefined) unwatch(this.#signal, this.#onAbort);
    this.#onAbort = listener;
    if (this.#signal !== undefined && listener !== undefined) watch(this.#signal, listener);
  }

  answer(outcome: Outcome): void {
    this.#run.answer(this.#index, outcome);
  }

  fail(mistake: unknown): void {
    this.#run.fail(mistake);
  }
}
