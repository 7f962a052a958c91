/** Short forms of rules and steps. */
import type { Adjustment, AskOutcome, Charge, Ledger, Outcome, Rule, Step, Verdict } from '@limiter/core';
import { ruleGrid } from '@limiter/core';

export const clockWindow = (limit: number, windowMs = 60_000): Rule => ({
  ...{ algorithm: 'fixed-window', limit, windowMs, align: 'clock', offsetMs: 0 },
});
export const log = (limit: number, windowMs = 60_000): Rule => ({ algorithm: 'sliding-window-log', limit, windowMs });
export const bucket = (capacity: number, refillMs = 60_000): Rule => ({
  ...{ algorithm: 'token-bucket', capacity, refillTokens: capacity, refillMs },
});

export const ledgerOf = (rule: Rule, value = 'd7', name = 'uploads/device'): Ledger => ({
  ...{ name, grid: ruleGrid(rule), values: [value] },
});

export function charge(rule: Rule, value = 'd7', cost = 1, enforce = true): Charge {
  return { ledger: ledgerOf(rule, value), rule, cost, holdBack: 0, enforce };
}

export const consume = (...charges: readonly Charge[]): Step => ({ op: 'consume', charges });
export const peek = (...charges: readonly Charge[]): Step => ({ op: 'peek', charges });

export function giveBack({ ledger, rule, cost }: Charge, { mark }: Verdict, amount: number = cost): Adjustment {
  return { ledger, rule, mark, charged: cost, change: 'give-back', amount };
}

export function asked(outcome: Outcome | undefined): AskOutcome {
  if (outcome?.ok && (outcome.op === 'consume' || outcome.op === 'peek')) return outcome;
  throw new Error('the step was not answered', { cause: outcome });
}
