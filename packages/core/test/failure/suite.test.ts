/** Every decorator, and all of them at once, around a healthy store: nothing may be different. */
import { describeStore } from '@limiter/store-suite';
import { withBreaker } from '../../src/failure/breaker.js';
import { withDeadline } from '../../src/failure/deadline.js';
import { withFallback } from '../../src/failure/fallback.js';
import { withObservation } from '../../src/failure/observation.js';
import { protect } from '../../src/failure/protect.js';
import type { Asking, AskingStore, Outcome, Store } from '../../src/index.js';
import { naiveStore } from './naive-store.js';

const share = { store: naiveStore({ fails: 'never' }), share: 0.5 };
const decorators: Readonly<Record<string, (store: Store) => Store>> = {
  deadline: (store) => withDeadline(store, { timeoutMs: 60_000 }),
  breaker: (store) => withBreaker(store),
  fallback: (store) => withFallback(store, share),
  observation: (store) => withObservation(store, { onEvent: () => {} }),
  'all of them': everything,
  'all of them, asked by calls': (store) =>
    everything({
      ...store,
      ask: (asking: Asking) =>
        void store.run([asking.step]).then(
          ([outcome]) => asking.answer(outcome as Outcome),
          (error) => asking.fail(error),
        ),
    } as AskingStore),
};

function everything(store: Store): Store {
  return protect(store, { name: 'suite', timeoutMs: 60_000, fallback: share, onEvent: () => {} });
}

for (const [name, decorate] of Object.entries(decorators)) {
  const asynchronous = name.startsWith('all of them');
  describeStore(
    `a store with ${name}`,
    ({ clock }) => {
      const store = naiveStore({}, clock);
      const { runSync: _, ...rest } = store;
      const plain = asynchronous ? { ...rest, traits: { ...store.traits, sync: false } } : store;
      return { store: decorate(plain), dump: store.dump };
    },
    {
      capabilities: {
        speed: 'slow',
        unsupported: {
          'second-handle': 'the data lies in this process',
          damage: 'the data is not text that anybody could damage',
          forgetting: 'the naive store of these tests forgets nothing',
          ...(asynchronous ? { sync: 'only an asynchronous store gets a deadline and a breaker' } : {}),
        },
      },
    },
  );
}
