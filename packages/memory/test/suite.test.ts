import type { Outcome, Step, SyncStore } from '@limiter/core';
import { describeStore, type StoreUnderTest } from '@limiter/store-suite';
import { type MemoryStore, openStore } from '../src/memory-store.js';
import { dump } from './dump.js';

/** Two callers of one store, each of whom says what time it is: the clock is read before `run` returns. */
function open(clock: () => number): StoreUnderTest {
  let speaking = clock;
  const { store, ledgers } = openStore({ clock: () => speaking() });
  const second = ({ clock: other }: { readonly clock: () => number }): SyncStore => ({
    traits: store.traits,
    run: (steps) => {
      speaking = other;
      try {
        return store.run(steps);
      } finally {
        speaking = clock;
      }
    },
    runSync: (step) => {
      speaking = other;
      try {
        return store.runSync(step);
      } finally {
        speaking = clock;
      }
    },
  });
  return { store, second, dump: () => dump(ledgers) };
}

/** The same store, asked by `askSync` wherever that can be: what is lent is copied before anybody asks again. */
function openLending(clock: () => number): StoreUnderTest {
  const opened = open(clock);
  const store = opened.store as MemoryStore;
  const decide = (step: Step): Outcome =>
    step.op === 'consume' || step.op === 'peek' ? structuredClone(store.askSync(step)) : store.runSync(step);
  return {
    ...opened,
    store: {
      traits: store.traits,
      runSync: decide,
      run: (steps, signal) =>
        signal?.aborted ? store.run(steps, signal) : Promise.resolve(steps.map((step) => decide(step))),
    } as SyncStore,
  };
}

const capabilities = {
  unsupported: { damage: 'what it keeps are its own numbers, which nobody else can reach' },
} as const;

describeStore('memoryStore', ({ clock }) => open(clock), { capabilities });
describeStore('memoryStore, whose outcomes are lent', ({ clock }) => openLending(clock), { capabilities });
