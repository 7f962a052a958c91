import type { SyncStore } from '@limiter/core';
import { describeStore, type StoreUnderTest } from '@limiter/store-suite';
import { openStore } from '../src/memory-store.js';
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

describeStore('memoryStore', ({ clock }) => open(clock), {
  capabilities: { unsupported: { damage: 'what it keeps are its own numbers, which nobody else can reach' } },
});
