/** A store with an outage in it: a real store behind a link that fails, hangs, is late, throws or talks nonsense, by script. */
import type { Asking, AskingStore, DeadlineSignal, Fault, Outcome, Step, Store, SyncStore } from '../../src/index.js';
import { type NaiveStore, naiveStore } from './naive-store.js';

/** What the link does with a call. The store behind it runs the steps in all `late`, `deaf` and `answers` cases. */
export type Behaviour =
  | { readonly does: 'work' }
  /** Answers each step with a fault and runs none. */
  | { readonly does: 'fail'; readonly fault: Fault; readonly cause?: unknown; readonly retryAfterMs?: number }
  /** Never sends, never answers; `saysUnsent`: answers 'unreachable' when the signal aborts, as a good store does. */
  | { readonly does: 'hang'; readonly saysUnsent?: boolean }
  /** Runs the steps at once and answers after this time (real time). */
  | { readonly does: 'answer-late'; readonly afterMs: number }
  /** Runs the steps and answers when `release()` is called. */
  | { readonly does: 'hold' }
  | { readonly does: 'throw'; readonly error: unknown }
  | { readonly does: 'reject'; readonly error: unknown }
  | { readonly does: 'answer'; readonly outcomes: (outcomes: readonly Outcome[]) => unknown };

export interface FlakyStore extends Store {
  behaviour: Behaviour;
  readonly behind: NaiveStore;
  /** Every call of `run` or `runSync`, with the signal it came with. */
  readonly calls: { readonly steps: readonly Step[]; readonly signal: DeadlineSignal | undefined }[];
  /** Answers what is held. */
  release(): void;
}

export function flakyStore(traits: Partial<Store['traits']> = {}): FlakyStore {
  const behind = naiveStore();
  const held: (() => void)[] = [];
  const store: FlakyStore = {
    traits: { ...behind.traits, sync: false, ...traits },
    behaviour: { does: 'work' },
    behind,
    calls: [],
    run(steps, signal) {
      store.calls.push({ steps, signal });
      const decide = (): readonly Outcome[] => steps.map((step) => behind.runSync(step));
      const { behaviour } = store;
      switch (behaviour.does) {
        case 'work':
          return Promise.resolve(decide());
        case 'fail':
          return Promise.resolve(steps.map(() => faultOf(behaviour)));
        case 'hang':
          return new Promise((resolve) => {
            const unsent = (): void => resolve(steps.map(() => faultOf({ does: 'fail', fault: 'unreachable' })));
            if (behaviour.saysUnsent) signal?.addEventListener('abort', unsent);
          });
        case 'answer-late': {
          const outcomes = decide();
          return new Promise((resolve) => setTimeout(() => resolve(outcomes), behaviour.afterMs));
        }
        case 'hold': {
          const outcomes = decide();
          return new Promise((resolve) => held.push(() => resolve(outcomes)));
        }
        case 'throw':
          throw behaviour.error;
        case 'reject':
          return Promise.reject(behaviour.error);
        case 'answer':
          return Promise.resolve(behaviour.outcomes(decide()) as readonly Outcome[]);
      }
    },
    release() {
      for (const answer of held.splice(0)) answer();
    },
  };
  return store;
}

/** The same, asked by calls (failure/asking.ts): the link is told of the end of the wait by a signal, as in `run`. */
export function askedByCalls(store: FlakyStore = flakyStore()): FlakyStore & AskingStore {
  const ask = (asking: Asking): void => {
    const controller = new AbortController();
    asking.onAbort = () => controller.abort();
    const signal = Object.assign(controller.signal, { deadlineAt: asking.deadlineAt });
    store.run([asking.step], signal).then(
      (outcomes) => asking.answer(outcomes[0] as Outcome),
      (error) => asking.fail(error),
    );
  };
  return Object.assign(store, { ask });
}

/** Both ways in which a limiter asks an asynchronous store. */
export const WAYS: readonly (readonly [string, () => FlakyStore])[] = [
  ['asked by promises', flakyStore],
  ['asked by calls', askedByCalls],
];

/** The same with `runSync`. A call that would hang cannot be answered at once: those behaviours are refused. */
export function flakySyncStore(): FlakyStore & SyncStore {
  const store = flakyStore({ sync: true });
  const runSync = (step: Step): Outcome => {
    store.calls.push({ steps: [step], signal: undefined });
    const { behaviour } = store;
    if (behaviour.does === 'work') return store.behind.runSync(step);
    if (behaviour.does === 'fail') return faultOf(behaviour);
    if (behaviour.does === 'throw') throw behaviour.error;
    if (behaviour.does === 'answer') return behaviour.outcomes([store.behind.runSync(step)]) as Outcome;
    throw new Error(`a synchronous store cannot ${behaviour.does}`);
  };
  return Object.assign(store, { runSync }) as FlakyStore & SyncStore;
}

function faultOf({ fault, cause, retryAfterMs }: Extract<Behaviour, { does: 'fail' }>): Outcome {
  const said = cause ?? new Error(`the link is down (${fault})`);
  return { ok: false, fault, cause: said, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}
