/** Stores that mix up ledgers. */
import type { Ledger } from '@limiter/core';
import { changingLimits, keys, throughALimiter } from '../../src/index.js';
import { type Answer, answering, type FaultyStore, isAsk, naming } from './making.js';

function resetsByPrefix(): Answer {
  const seen = new Map<string, Ledger>();
  return (step, right) => {
    if (isAsk(step)) for (const { ledger } of step.charges) seen.set(JSON.stringify(ledger), ledger);
    if (step.op !== 'reset') return right(step);
    const hit = (one: Ledger, named: Ledger): boolean =>
      one.name === named.name && one.values.join(':').startsWith(named.values.join(':'));
    return right({
      ...step,
      ledgers: [...seen.values()].filter((one) => step.ledgers.some((named) => hit(one, named))),
    });
  };
}

export const KEYS: readonly FaultyStore[] = [
  {
    fault: 'joins the parts of a key with colons',
    caughtBy: [keys],
    make: naming((ledger) => ({ ...ledger, values: [ledger.values.join(':')] })),
  },

  {
    fault: 'keeps its ledgers by keys that are well-formed text',
    caughtBy: [keys],
    make: naming((ledger) => ({
      ...ledger,
      values: ledger.values.map((value) => Buffer.from(value).toString('utf8')),
    })),
  },

  {
    fault: 'leaves the slot out of the key',
    caughtBy: [keys],
    make: naming(({ name, grid, values }) => ({ name, grid, values })),
  },

  {
    fault: 'leaves the grid out of the key',
    caughtBy: [keys, changingLimits],
    make: naming((ledger) => ({ ...ledger, grid: ledger.grid.slice(0, 1) })),
  },

  {
    fault: 'resets everything that begins like the key',
    caughtBy: [keys, throughALimiter],
    make: answering(resetsByPrefix),
  },
];
