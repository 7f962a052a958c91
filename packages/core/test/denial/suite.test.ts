/**
 * The store suite through a denial memory that believes a denial for as long as it may. On the clock of its store nothing is
 * different. On a clock of its own, which only goes forward, the only thing that it sees late is the store's clock set back.
 */
import { memoryStore } from '@limiter/memory';
import { describeStore, groups, type StoreUnderTest } from '@limiter/store-suite';
import { collect } from '@limiter/store-suite/collect';
import { describe, expect, it } from 'vitest';
import { type SyncStore, withDenialMemory } from '../../src/index.js';
import { naiveStore } from '../failure/naive-store.js';

const LONGEST_MS = 2 ** 31 - 1;

type Clock = () => number;

/** A clock as `performance.now` is one: it goes on as the other does, and stands still while that one is set back. */
function onlyForward(clock: Clock): Clock {
  let last = clock();
  let passed = 0;
  return () => {
    const now = clock();
    // Small enough to be added exactly, large enough for any denial to be past.
    passed += Math.min(Math.max(0, now - last), LONGEST_MS);
    last = now;
    return passed;
  };
}

/** One store, and another handle on it that has no memory, as another process would have it. */
function inProcess(clock: Clock, now: Clock): StoreUnderTest {
  let speaking = clock;
  const memory = memoryStore({ clock: () => speaking() });
  const second = ({ clock: other }: { readonly clock: Clock }): SyncStore => {
    const speak = <T>(act: () => T): T => {
      speaking = other;
      try {
        return act();
      } finally {
        speaking = clock;
      }
    };
    return {
      traits: memory.traits,
      run: (steps) => speak(() => memory.run(steps)),
      runSync: (step) => speak(() => memory.runSync(step)),
    };
  };
  return { store: withDenialMemory(memory, { staleMs: LONGEST_MS, now }), second };
}

const unsupported = {
  damage: 'what it keeps are its own numbers, which nobody else can reach',
  dump: 'what a refusal leaves is proven on the naive store below',
};

describeStore('a denial memory on the clock of its store', ({ clock }) => inProcess(clock, clock), {
  capabilities: { speed: 'slow', unsupported },
});

describeStore(
  'a denial memory around an asynchronous store',
  ({ clock }) => {
    const { runSync: _, ...store } = naiveStore({ sync: false }, clock);
    return { store: withDenialMemory(store, { staleMs: LONGEST_MS, now: clock }), dump: store.dump };
  },
  {
    capabilities: {
      speed: 'slow',
      unsupported: {
        'second-handle': 'the data lies in this process',
        damage: 'the data is not text that anybody could damage',
        forgetting: 'the naive store of these tests forgets nothing',
        sync: 'its answers have to be waited for',
      },
    },
  },
);

/**
 * What cannot hold where nobody tells the memory that the store's clock was set back: it goes on denying, by the time before.
 * Each with a seed whose random histories show it.
 */
const SET_BACK: readonly (readonly [title: string, seed: number])[] = [
  ['a retry at the told moment, the longest wait of the enforced limits, is admitted, and 1 ms earlier it is not', 4],
  ['remaining is the largest cost that is admitted now', 1],
  ['after resetAfterMs the full budget is admitted, and 1 ms earlier it is not', 1],
  ['remaining grows at moreAfterMs and not before', 1],
  ['a refusal leaves every number as it was', 3],
  ['golden vector 3, clock set back', 1],
  ['golden vector 15, clock set back', 1],
  ['golden vector 27, clock set back', 1],
  ...[
    'a fixed window on the clock',
    'a fixed window from the first request',
    'a sliding window log',
    'a token bucket',
  ].map((kind) => [`${kind} follows a clock that is set back, with refunds and changed limits in between`, 1] as const),
  ['three limits on a clock that is set back answer like three ledgers that keep every charge', 4],
  ['numbers up to 2^53-1 are refunded, settled and changed without a rounding error', 1],
];
const reason = 'its histories set the clock of the store back, which the memory sees when the denial is past';

describeStore('a denial memory on a clock of its own', ({ clock }) => inProcess(clock, onlyForward(clock)), {
  // The histories of hundreds of charges set the clock back too; those of this seed do not do it between two equal denials.
  capabilities: { speed: 'slow', seed: 1, unsupported, leaveOut: SET_BACK.map(([title]) => ({ title, reason })) },
});

describe('what is left out of the suite for a denial memory on a clock of its own', () => {
  it.each(SET_BACK)('does not hold there: %s', async (title, seed) => {
    const checks = groups.flatMap((group) => group.checks).filter((check) => check.title === title);
    const leftOut = { name: 'left out', checks };
    const results = await collect(leftOut, ({ clock }) => inProcess(clock, onlyForward(clock)), {
      capabilities: { seed, unsupported },
    });
    expect(results.map(({ outcome }) => outcome)).toEqual(['failed']);
  });
});
