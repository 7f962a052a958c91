/** A decorator is a function from store to store: it says what it does to `run`, and everything else stays the store's. */
import type { Outcome, Step, Store, SyncStore } from '../store.js';

/** What a decorator makes of a store: `runSync` is there if and only if the store has it. */
export type Decorated<S extends Store> = S extends SyncStore ? SyncStore : Store;

export type Run = Store['run'];
export type RunSync = (step: Step) => Outcome;

/**
 * A store that answers with `run`, and with what `runSync` makes of the store's own `runSync` where it has one.
 * Traits and `close` are the store's own.
 */
export function decorate<S extends Store>(store: S, run: Run, runSync: (inner: RunSync) => RunSync): Decorated<S> {
  const inner = store.runSync?.bind(store);
  const close = store.close?.bind(store);
  const decorated: Store = {
    traits: store.traits,
    run,
    ...(inner === undefined ? {} : { runSync: runSync(inner) }),
    ...(close === undefined ? {} : { close }),
  };
  return decorated as Decorated<S>;
}
