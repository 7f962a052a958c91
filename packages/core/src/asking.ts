/** A question to a store that answers by a call instead of a promise. */
import type { Outcome, Step, Store } from './store.js';

/** One step on its way, and whom to tell what came of it: everything that a store needs to hold of a call. */
export interface Asking {
  readonly step: Step;
  /** When `aborted` becomes true, on the clock of `performance.now()`, in ms: as a DeadlineSignal's. */
  readonly deadlineAt: number;
  /** Nobody waits any more: what was not sent never will be, and is answered `unreachable`. */
  readonly aborted: boolean;
  /** Why it was aborted. */
  readonly reason: unknown;
  /** A store that holds the step back may set this; it is called once, when `aborted` becomes true. */
  onAbort: (() => void) | undefined;
  /** What really happened. Once, now or later, and also after `aborted`. */
  answer(outcome: Outcome): void;
  /** In place of `answer`: a LimiterError for a mistake of the caller's, and then no step ran. */
  fail(mistake: unknown): void;
}

/** A store that can be asked without promises. `ask` promises everything that `run` does of one step; steps are run in the order asked. */
export interface AskingStore extends Store {
  ask(asking: Asking): void;
}

export function canBeAsked(store: Store): store is AskingStore {
  return 'ask' in store && typeof store.ask === 'function';
}
