/** What Lua would have to work out from a charge, worked out here. */
import { type Charge, type Rule, ruleLimit } from '@limiter/core';

export const MAX: number = Number.MAX_SAFE_INTEGER;

/** The numbers of one charge, by which lua/shared/*.lua judge it. */
export interface ChargeNumbers {
  /** windowMs, or refillTokens. */
  readonly rate: number;
  /** It admits while what is used, or owed in units of 1/refillMs token, is at most this. Log: the budget, cost included. */
  readonly most: number;
  /** Window: offsetMs, -1 for 'first-request'. Bucket: the charge in units of 1/refillMs token. */
  readonly second: number;
  readonly cost: number;
}

/** 'first-request' knows no offset, and -1 says so. */
export function offsetOf(rule: Rule): number {
  return rule.algorithm === 'fixed-window' && rule.align === 'clock' ? rule.offsetMs : -1;
}

export function numbersOf({ rule, cost, holdBack }: Charge): ChargeNumbers {
  const free = ruleLimit(rule) - holdBack - cost;
  if (rule.algorithm === 'token-bucket') {
    // What never fits has a level below any debt; at cost 0 every debt admits.
    const most = cost === 0 ? MAX : free >= 0 ? free * rule.refillMs : -1;
    return { rate: rule.refillTokens, most, second: free >= 0 ? cost * rule.refillMs : 0, cost };
  }
  if (rule.algorithm === 'fixed-window') {
    return { rate: rule.windowMs, most: cost === 0 ? MAX : free, second: offsetOf(rule), cost };
  }
  return { rate: rule.windowMs, most: rule.limit - holdBack, second: 0, cost };
}
