/** Steps as a limiter makes them, short enough to read in a test. */
import type { AskOutcome, AskStep, Charge, Failure, FaultOutcome, Outcome, Rule } from '../../src/index.js';
import { ruleGrid } from '../../src/index.js';

export const perMinute = (limit: number): Rule => ({ algorithm: 'sliding-window-log', limit, windowMs: 60_000 });
export const bucket = (capacity: number, refillTokens: number = capacity, refillMs: number = 60_000): Rule => ({
  algorithm: 'token-bucket',
  capacity,
  refillTokens,
  refillMs,
});
export const window = (limit: number): Rule => ({
  algorithm: 'fixed-window',
  limit,
  windowMs: 60_000,
  align: 'first-request',
  offsetMs: 0,
});

export function charge(rule: Rule, cost = 1, more: Partial<Charge> & { readonly key?: string } = {}): Charge {
  const { key = 'k', ...rest } = more;
  return {
    ledger: { name: `api/${rule.algorithm}`, grid: ruleGrid(rule), values: [key] },
    rule,
    cost,
    holdBack: 0,
    enforce: true,
    ...rest,
  };
}

export function consume(charges: Charge | readonly Charge[], onFailure?: Failure): AskStep {
  const list = Array.isArray(charges) ? (charges as readonly Charge[]) : [charges as Charge];
  return { op: 'consume', charges: list, onFailure };
}

export function peek(charges: Charge | readonly Charge[], onFailure?: Failure): AskStep {
  return { ...consume(charges, onFailure), op: 'peek' };
}

/** The answer to a consume or peek; a fault fails the test. */
export function asked(outcome: Outcome | undefined): AskOutcome {
  if (outcome?.ok !== true || (outcome.op !== 'consume' && outcome.op !== 'peek')) {
    throw new Error(`expected an answer, got ${JSON.stringify(outcome)}`);
  }
  return outcome;
}

/** The fault of a step; an answer fails the test. */
export function faulty(outcome: Outcome | undefined): FaultOutcome {
  if (outcome?.ok !== false) throw new Error(`expected a fault, got ${JSON.stringify(outcome)}`);
  return outcome;
}
