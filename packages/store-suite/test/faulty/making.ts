/** Ways to make a store that is wrong in one way out of the right one. */
import type { AskOutcome, AskStep, Charge, Ledger, Outcome, Step, SyncStore } from '@limiter/core';
import type { FactoryOptions, Group, StoreUnderTest } from '../../src/index.js';
import { PlainData, plainStore } from '../plain-store.js';

export type Make = (options: FactoryOptions) => StoreUnderTest;

export interface FaultyStore {
  /** Completes "catches a store that ...". */
  readonly fault: string;
  /** The groups that must fail. */
  readonly caughtBy: readonly Group[];
  readonly make: Make;
}

export type Answer = (step: Step, right: (step: Step) => Outcome, now: number) => Outcome;

/** A store that answers each step in its own way. */
export function answering(answer: () => Answer): Make {
  return ({ clock }) => {
    const data = new PlainData();
    const own = answer();
    const open = (clock: () => number): SyncStore => {
      const right = plainStore({ clock, data });
      const runSync = (step: Step): Outcome => own(step, right.runSync, clock());
      return { ...right, runSync, run: async (steps) => steps.map(runSync) };
    };
    return { store: open(clock), second: (options) => open(options.clock), dump: () => data.dump() };
  };
}

export const isAsk = (step: Step): step is AskStep => step.op === 'consume' || step.op === 'peek';
export const isDenied = (outcome: Outcome): outcome is AskOutcome =>
  outcome.ok && 'allowed' in outcome && !outcome.allowed;

/** Changes the charges of a question before it is asked. */
export const asking = (change: (charge: Charge) => Charge): Make =>
  answering(() => (step, right) => right(isAsk(step) ? { ...step, charges: step.charges.map(change) } : step));

/** Changes an answer after it was given. */
export const telling = (change: (outcome: AskOutcome) => AskOutcome): Make =>
  answering(() => (step, right) => {
    const outcome = right(step);
    return outcome.ok && 'verdicts' in outcome ? change(outcome) : outcome;
  });

/** Changes the names of ledgers wherever they stand. */
export function naming(rename: (ledger: Ledger) => Ledger): Make {
  return answering(() => (step, right) => {
    if (isAsk(step)) {
      return right({ ...step, charges: step.charges.map((one) => ({ ...one, ledger: rename(one.ledger) })) });
    }
    if (step.op === 'reset') return right({ ...step, ledgers: step.ledgers.map(rename) });
    return right({ ...step, adjustments: step.adjustments.map((one) => ({ ...one, ledger: rename(one.ledger) })) });
  });
}

/** Only the clock is wrong. */
export function onClock(wrong: (clock: () => number) => () => number): Make {
  return ({ clock }) => {
    const data = new PlainData();
    const open = (clock: () => number): SyncStore => plainStore({ clock: wrong(clock), data });
    return { store: open(clock), second: (options) => open(options.clock), dump: () => data.dump() };
  };
}

export const charging = (charge: Charge): Step => ({
  op: 'adjust',
  adjustments: [
    { ledger: charge.ledger, rule: charge.rule, mark: undefined, charged: 0, change: 'charge', amount: charge.cost },
  ],
});

export const noFault: Make = answering(() => (step, right) => right(step));
