/** Stores that are wrong about time: waits, clocks, and when a ledger may be forgotten. */
import type { Ledger, SyncStore } from '@limiter/core';
import { contract, differential, expiry, promises, time, vectors } from '../../src/index.js';
import {
  type Answer,
  answering,
  asking,
  type FaultyStore,
  isAsk,
  isDenied,
  noFault,
  onClock,
  telling,
} from './making.js';

function forgetsEarly(): Answer {
  const lastSeen = new Map<string, number>();
  return (step, right, now) => {
    if (!isAsk(step)) return right(step);
    for (const { ledger, rule } of step.charges) {
      const key = JSON.stringify(ledger);
      const period = rule.algorithm === 'token-bucket' ? rule.refillMs : rule.windowMs;
      if (now - (lastSeen.get(key) ?? now) >= period - 1) right({ op: 'reset', ledgers: [ledger] });
      lastSeen.set(key, now);
    }
    return right(step);
  };
}

function forgetsWhenSetBack(): Answer {
  const seen = new Map<string, { readonly ledger: Ledger; readonly at: number }>();
  return (step, right, now) => {
    if (!isAsk(step)) return right(step);
    for (const { ledger } of step.charges) {
      const key = JSON.stringify(ledger);
      if ((seen.get(key)?.at ?? 0) > now) right({ op: 'reset', ledgers: [ledger] });
      seen.set(key, { ledger, at: now });
    }
    return right(step);
  };
}

export const CLOCKS: readonly FaultyStore[] = [
  {
    fault: 'lets a window last a millisecond too long',
    caughtBy: [time, expiry, vectors, differential],
    make: asking(({ rule, ...charge }) => ({
      ...charge,
      rule: rule.algorithm === 'token-bucket' ? rule : { ...rule, windowMs: rule.windowMs + 1 },
    })),
  },

  {
    fault: 'rounds the wait down to whole seconds',
    caughtBy: [time, promises, vectors, differential],
    make: telling((outcome) => ({
      ...outcome,
      verdicts: outcome.verdicts.map((one) => ({ ...one, retryAfterMs: Math.floor(one.retryAfterMs / 1_000) * 1_000 })),
    })),
  },

  {
    fault: 'tells a wait that is a millisecond too long',
    caughtBy: [time, promises, vectors, differential],
    make: telling((outcome) => ({
      ...outcome,
      verdicts: outcome.verdicts.map((one) => ({ ...one, retryAfterMs: one.retryAfterMs + (one.admits ? 0 : 1) })),
    })),
  },

  {
    fault: 'locks everybody out for as long as its clock was set back',
    caughtBy: [time, vectors, differential],
    make: onClock((clock) => {
      let latest = 0;
      return () => {
        latest = Math.max(latest, clock());
        return latest;
      };
    }),
  },

  {
    fault: 'admits everything when its clock is set back',
    caughtBy: [time, vectors, differential],
    make: answering(forgetsWhenSetBack),
  },

  {
    fault: 'does not store the move of a clock that was set back when it refuses',
    caughtBy: [time, differential],
    make: answering(() => (step, right) => {
      if (step.op !== 'consume') return right(step);
      const seen = right({ ...step, op: 'peek' });
      return isDenied(seen) ? { ...seen, op: 'consume' } : right(step);
    }),
  },

  {
    fault: 'stores the move of a clock that was set back when it is only peeked at',
    caughtBy: [time],
    make: answering(() => (step, right) => {
      if (step.op !== 'peek') return right(step);
      const outcome = right(step);
      right({
        op: 'consume',
        charges: step.charges.map((one) => ({ ...one, cost: Number.MAX_SAFE_INTEGER, enforce: true })),
      });
      return outcome;
    }),
  },

  {
    fault: 'reads the process clock',
    caughtBy: [contract, time, vectors, differential],
    make: onClock(() => Date.now),
  },

  {
    fault: 'forgets a ledger before its budget is full again',
    caughtBy: [expiry, differential],
    make: answering(forgetsEarly),
  },

  {
    fault: 'forgets nothing, ever',
    caughtBy: [expiry],
    make: (options) => {
      const right = noFault(options);
      const dumps: string[] = [];
      const run: SyncStore['run'] = async (steps) => {
        const outcomes = await right.store.run(steps);
        dumps.push((await right.dump?.()) ?? '');
        return outcomes;
      };
      return { ...right, store: { ...right.store, run }, dump: () => dumps.join('') };
    },
  },
];
