/** The steps of the tests in short form. */
import {
  type Adjusted,
  type AdjustOutcome,
  type AskOutcome,
  type AskStep,
  type Charge,
  type FixedWindowRule,
  type Mark,
  type Rule,
  ruleGrid,
  type SlidingWindowLogRule,
  type SyncStore,
  type TokenBucketRule,
} from '@limiter/core';

/** A round moment in 2023. */
export const START = 1_700_000_000_000;

export function fixed(limit: number, windowMs: number): FixedWindowRule {
  return { algorithm: 'fixed-window', limit, windowMs, align: 'first-request', offsetMs: 0 };
}

export function log(limit: number, windowMs: number): SlidingWindowLogRule {
  return { algorithm: 'sliding-window-log', limit, windowMs };
}

export function bucket(capacity: number, refillTokens: number, refillMs: number): TokenBucketRule {
  return { algorithm: 'token-bucket', capacity, refillTokens, refillMs };
}

export interface Part {
  readonly cost?: number;
  readonly name?: string;
  readonly slot?: string;
  readonly holdBack?: number;
}

export function charge(rule: Rule, key: string | readonly string[], part: Part = {}): Charge {
  const { cost = 1, name = 'api/limit', slot, holdBack = 0 } = part;
  const values = typeof key === 'string' ? [key] : key;
  return { ledger: { name, grid: ruleGrid(rule), values, slot }, rule, cost, holdBack, enforce: true };
}

export function ask(store: SyncStore, op: AskStep['op'], ...charges: readonly Charge[]): AskOutcome {
  const outcome = store.runSync({ op, charges });
  if (!outcome.ok || outcome.op !== op) throw new Error(`no answer to ${op}`);
  return outcome as AskOutcome;
}

export function consume(store: SyncStore, ...charges: readonly Charge[]): AskOutcome {
  return ask(store, 'consume', ...charges);
}

export function peek(store: SyncStore, ...charges: readonly Charge[]): AskOutcome {
  return ask(store, 'peek', ...charges);
}

export function remaining(store: SyncStore, one: Charge): number {
  return peek(store, one).verdicts[0]?.remaining ?? Number.NaN;
}

export function refund(store: SyncStore, one: Charge, mark: Mark | undefined, amount: number = one.cost): Adjusted {
  const { ledger, rule, cost } = one;
  const outcome = store.runSync({
    op: 'adjust',
    adjustments: [{ ledger, rule, mark, charged: cost, change: 'give-back', amount }],
  }) as AdjustOutcome;
  return outcome.adjusted[0] as Adjusted;
}
