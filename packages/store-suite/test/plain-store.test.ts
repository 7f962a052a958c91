import { describeStore } from '../src/index.js';
import { PlainData, plainStore } from './plain-store.js';

describeStore(
  'plain store',
  ({ clock }) => {
    const data = new PlainData();
    return {
      store: plainStore({ clock, data }),
      second: (options) => plainStore({ clock: options.clock, data }),
      dump: () => data.dump(),
    };
  },
  {
    capabilities: { unsupported: { damage: 'its ledgers lie in this process, out of reach of anybody else' } },
  },
);

describeStore('plain store on the process clock', () => plainStore(), {
  capabilities: {
    clock: 'own',
    unsupported: {
      damage: 'its ledgers lie in this process, out of reach of anybody else',
      dump: 'it was proven on the turned clock',
      'second-handle': 'it was proven on the turned clock',
    },
  },
});
