/** A question on its way through a denial memory: everything is as whoever asked has it, and the answer is looked at in passing. */
import type { Asking } from './asking.js';
import type { Outcome, Step } from './store.js';

export class WatchedAsking implements Asking {
  readonly step: Step;
  readonly #asking: Asking;
  /** Told once what came of it, however often the store answers; undefined when no step ran, or nobody knows. */
  #look: ((outcome: Outcome | undefined) => void) | undefined;

  constructor(asking: Asking, look: (outcome: Outcome | undefined) => void) {
    this.step = asking.step;
    this.#asking = asking;
    this.#look = look;
  }

  get deadlineAt(): number {
    return this.#asking.deadlineAt;
  }

  get aborted(): boolean {
    return this.#asking.aborted;
  }

  get reason(): unknown {
    return this.#asking.reason;
  }

  get onAbort(): (() => void) | undefined {
    return this.#asking.onAbort;
  }

  set onAbort(listener: (() => void) | undefined) {
    this.#asking.onAbort = listener;
  }

  answer(outcome: Outcome): void {
    this.seen(outcome);
    this.#asking.answer(outcome);
  }

  fail(mistake: unknown): void {
    this.seen(undefined);
    this.#asking.fail(mistake);
  }

  /** Looks, unless something came of it before. */
  seen(outcome: Outcome | undefined): void {
    const look = this.#look;
    this.#look = undefined;
    look?.(outcome);
  }
}
