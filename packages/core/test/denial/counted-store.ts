/** A store that counts what reaches it, for the tests of the denial memory. */
import { memoryStore } from '@limiter/memory';
import type { AskStep, DenialMemory, DenialMemoryOptions, Limiter, Step, Store } from '../../src/index.js';
import { createLimiter, slidingWindowLog, tokenBucket, withDenialMemory } from '../../src/index.js';

interface Counted {
  readonly time: { now: number };
  readonly seen: readonly Step[];
  readonly store: Store & DenialMemory;
  readonly limiter: Limiter<{
    axes: 'org' | 'user';
    limits: 'log' | 'bucket';
    tiers: never;
    priorities: never;
    failures: 'allow' | 'deny' | 'throw';
  }>;
}

/** An asynchronous store that counts the steps that reach it, on one clock that is turned by hand. */
export function counted(options: Omit<DenialMemoryOptions, 'now'> = {}): Counted {
  const time = { now: 1_000_000 };
  const memory = memoryStore({ clock: () => time.now });
  const seen: Step[] = [];
  const remote: Store = {
    traits: { ...memory.traits, sync: false, fails: 'possible' },
    run: (steps) => {
      seen.push(...steps);
      return memory.run(steps);
    },
  };
  const store = withDenialMemory(remote, { ...options, now: () => time.now });
  const limits = {
    log: slidingWindowLog({ by: 'org', limit: 3, window: '1s' }),
    bucket: tokenBucket({ by: 'user', capacity: 100, refill: '1/1s' }),
  };
  const limiter = createLimiter({ name: 'api', store, limits, onStoreFailure: 'throw' });
  return { time, seen, store, limiter };
}
export const who: { readonly org: string; readonly user: string } = { org: 'o', user: 'u' };

/** A step of one charge on a fixed window of limit 1. */
export function consume(value: string, cost: number): AskStep {
  const rule = { algorithm: 'fixed-window', limit: 1, windowMs: 1_000, align: 'clock', offsetMs: 0 } as const;
  const ledger = { name: 'x/y', grid: 'f1000', values: [value] };
  return { op: 'consume', charges: [{ ledger, rule, cost, holdBack: 0, enforce: true }] };
}
