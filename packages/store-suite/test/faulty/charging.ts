/** Stores that charge, refuse or give back wrongly. Every fault is one that rate limiters in use have had. */
import type { AskOutcome, Outcome, Step, SyncStore } from '@limiter/core';
import {
  admission,
  atomicity,
  bounds,
  changingLimits,
  composition,
  contract,
  differential,
  type FactoryOptions,
  longLogs,
  priorities,
  promises,
  refunds,
  type StoreUnderTest,
  settlements,
  throughALimiter,
  vectors,
} from '../../src/index.js';
import { plainStore } from '../plain-store.js';
import {
  type Answer,
  answering,
  asking,
  charging,
  type FaultyStore,
  isAsk,
  isDenied,
  noFault,
  telling,
} from './making.js';

/** Asks, lets others run, and charges only then. */
function readThenWrite({ clock }: FactoryOptions): StoreUnderTest {
  const right = plainStore({ clock });
  const one = async (step: Step): Promise<Outcome> => {
    if (step.op !== 'consume') return right.runSync(step);
    const seen = right.runSync({ ...step, op: 'peek' });
    await Promise.resolve();
    if (isDenied(seen)) return { ...seen, op: 'consume' };
    for (const charge of step.charges) right.runSync(charging(charge));
    const after = right.runSync({ ...step, op: 'peek' }) as AskOutcome;
    return {
      ...after,
      op: 'consume',
      allowed: true,
      verdicts: after.verdicts.map((one) => ({ ...one, admits: true })),
    };
  };
  const run = async (steps: readonly Step[]): Promise<readonly Outcome[]> => await Promise.all(steps.map(one));
  return { store: { ...right, run } };
}

/** Hands the same verdict objects out again and again. */
function liveRecords(): Answer {
  const records = new Map<string, AskOutcome>();
  return (step, right) => {
    const outcome = right(step);
    if (!isAsk(step) || !outcome.ok || !('verdicts' in outcome)) return outcome;
    const key = JSON.stringify(step.charges.map(({ ledger }) => ledger));
    const record = records.get(key) ?? outcome;
    records.set(key, Object.assign(record, outcome));
    return record;
  };
}

/** Charges of a settlement only what still fits. */
function settlesWhatFits(step: Step, right: (step: Step) => Outcome): Outcome {
  if (step.op !== 'adjust') return right(step);
  const adjustments = step.adjustments.map((one) => {
    if (one.change === 'give-back') return one;
    const peeked = right({ op: 'peek', charges: [{ ...one, cost: 0, holdBack: 0, enforce: true }] }) as AskOutcome;
    return { ...one, amount: Math.min(one.amount, peeked.verdicts[0]?.remaining ?? 0) };
  });
  return right({ ...step, adjustments });
}

export const CHARGING: readonly FaultyStore[] = [
  {
    fault: 'charges a refused call',
    caughtBy: [admission, composition, promises, vectors, differential],
    make: answering(() => (step, right) => {
      const outcome = right(step);
      if (step.op === 'consume' && isDenied(outcome)) for (const charge of step.charges) right(charging(charge));
      return outcome;
    }),
  },

  {
    fault: 'charges one limit and then asks the next',
    caughtBy: [composition, vectors, differential],
    make: answering(() => (step, right) => {
      if (step.op !== 'consume' || step.charges.length < 2) return right(step);
      const verdicts: AskOutcome['verdicts'][number][] = [];
      for (const charge of step.charges) {
        const outcome = right({ ...step, charges: [charge] }) as AskOutcome;
        verdicts.push(...outcome.verdicts);
        if (!outcome.allowed) break;
      }
      const rest = right({ ...step, op: 'peek' }) as AskOutcome;
      const all = rest.verdicts.map((verdict, i) => verdicts[i] ?? verdict);
      return { ...rest, op: 'consume', allowed: verdicts.every(({ admits }) => admits), verdicts: all };
    }),
  },

  {
    fault: 'admits one unit more than the limit',
    caughtBy: [admission, atomicity, bounds, vectors, differential],
    make: asking(({ rule, ...charge }) => ({
      ...charge,
      rule:
        rule.algorithm === 'token-bucket'
          ? { ...rule, capacity: rule.capacity + 1 }
          : { ...rule, limit: rule.limit + 1 },
    })),
  },

  {
    fault: 'refuses the call that uses the last unit',
    caughtBy: [admission, atomicity, promises, vectors, differential],
    make: asking(({ rule, ...charge }) => ({
      ...charge,
      rule:
        rule.algorithm === 'token-bucket'
          ? { ...rule, capacity: Math.max(0, rule.capacity - 1) }
          : { ...rule, limit: Math.max(0, rule.limit - 1) },
    })),
  },

  {
    fault: 'gives back more than was charged',
    caughtBy: [refunds, differential],
    make: answering(() => (step, right) => {
      if (step.op !== 'adjust') return right(step);
      return right({
        ...step,
        adjustments: step.adjustments.map((one) => ({ ...one, charged: Number.MAX_SAFE_INTEGER })),
      });
    }),
  },

  {
    fault: 'gives back in a window that the charge is not in',
    caughtBy: [refunds, differential],
    make: answering(() => (step, right) => {
      const outcome = right(step);
      if (step.op !== 'adjust' || !outcome.ok || outcome.op !== 'adjust') return outcome;
      const late = step.adjustments.filter(({ change, amount, mark }, i) => {
        return change === 'give-back' && amount > 0 && mark !== undefined && outcome.adjusted[i]?.givenBack === 0;
      });
      if (late.length > 0) right({ op: 'reset', ledgers: late.map(({ ledger }) => ledger) });
      return outcome;
    }),
  },

  {
    fault: 'uses a receipt twice that is to be used once everywhere',
    caughtBy: [refunds],
    make: answering(() => (step, right) => right(step.op === 'adjust' ? { ...step, once: undefined } : step)),
  },

  { fault: 'reads first and writes later', caughtBy: [atomicity], make: readThenWrite },

  {
    fault: 'keeps other data for a second handle',
    caughtBy: [atomicity],
    make: (options) => ({ ...noFault(options), second: ({ clock }) => plainStore({ clock }) }),
  },

  {
    fault: 'lets a shadow limit refuse',
    caughtBy: [composition, vectors, differential],
    make: asking((charge) => ({ ...charge, enforce: true })),
  },

  {
    fault: 'does not hold anything back',
    caughtBy: [priorities, throughALimiter, vectors, differential],
    make: asking((charge) => ({ ...charge, holdBack: 0 })),
  },

  {
    fault: 'begins a new ledger when the limit changes',
    caughtBy: [changingLimits, vectors, differential],
    make: asking(({ ledger, rule, ...charge }) => {
      const most = rule.algorithm === 'token-bucket' ? rule.capacity : rule.limit;
      return { ...charge, rule, ledger: { ...ledger, values: [...ledger.values, `limit ${most}`] } };
    }),
  },

  {
    fault: 'charges a peek',
    caughtBy: [admission, differential],
    make: answering(() => (step, right) => {
      const outcome = right(step.op === 'peek' ? { ...step, op: 'consume' } : step);
      return step.op === 'peek' ? ({ ...outcome, op: 'peek' } as Outcome) : outcome;
    }),
  },

  { fault: 'hands out its live records', caughtBy: [contract], make: answering(liveRecords) },

  {
    fault: 'takes the steps of a run in another order',
    caughtBy: [contract],
    make: (options) => {
      const right = noFault(options);
      const run: SyncStore['run'] = async (steps) => [...(await right.store.run([...steps].reverse()))].reverse();
      return { ...right, store: { ...right.store, run } };
    },
  },

  {
    fault: 'counts in numbers that are not exact',
    caughtBy: [differential],
    make: telling((outcome) => ({
      ...outcome,
      verdicts: outcome.verdicts.map((one) => ({ ...one, remaining: Number(one.remaining.toPrecision(14)) })),
    })),
  },
  {
    fault: 'refuses what a settlement adds beyond the limit',
    caughtBy: [settlements, differential],
    make: answering(() => settlesWhatFits),
  },
  {
    fault: 'shortens its answers about a log to whole tenths of a second',
    caughtBy: [longLogs],
    make: telling((outcome) => ({
      ...outcome,
      verdicts: outcome.verdicts.map((one) => ({ ...one, moreAfterMs: Math.ceil(one.moreAfterMs / 100) * 100 })),
    })),
  },
];
