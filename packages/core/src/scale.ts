/**
 * A rule for a part of its budget: the share of a fallback, or one of n instances. In integers, and always towards less:
 * what the parts admit together never passes the whole.
 *
 * ```
 * limit 100, share 1/3            -> limit 33             limits and capacities are rounded down
 * held back 20 of it, share 1/3   -> 7                    what is held back is rounded up
 * refill 120 per 60,000 ms, 1/3   -> 120 per 180,000 ms   the rate is exact: the time grows, no token is rounded
 * ```
 */
import { ceilDiv, floorDiv, MAX } from './algorithms/time.js';
import { MAX_DURATION_MS } from './duration.js';
import { LimiterError, shown } from './errors.js';
import type { Rule, TokenBucketRule } from './rule.js';

/** numerator / denominator in lowest terms, 1 <= numerator <= denominator <= 1,000,000. */
export interface Fraction {
  readonly numerator: number;
  readonly denominator: number;
}

const MILLION = 1_000_000;

/**
 * The simplest fraction that, as a double, is `share`; where there is none with a denominator up to 1,000,000, `share` in
 * whole millionths, rounded down. So 1/3 written as a double is a third, and 0.1 is a tenth.
 *
 * @throws LimiterError ERR_LIMITER_NUMBER unless 0.000001 <= share <= 1
 * @example shareAsFraction(1 / 3) // { numerator: 1, denominator: 3 }
 */
export function shareAsFraction(share: number): Fraction {
  if (!(typeof share === 'number' && share >= 1 / MILLION && share <= 1)) {
    throw new LimiterError('ERR_LIMITER_NUMBER', `share must be a number from 0.000001 to 1, got ${shown(share)}`);
  }
  for (let denominator = 1; denominator <= MILLION; denominator += 1) {
    const numerator = Math.round(share * denominator);
    if (numerator / denominator === share) return { numerator, denominator };
  }
  const nearest = Math.floor(share * MILLION);
  // The product was rounded, perhaps up.
  const millionths = nearest / MILLION > share ? nearest - 1 : nearest;
  const divisor = gcd(millionths, MILLION);
  return { numerator: millionths / divisor, denominator: MILLION / divisor };
}

/** floor(amount * numerator / denominator), exact for whole amounts up to 2^53-1. */
export function scaleDown(amount: number, numerator: number, denominator: number): number {
  const rest = amount % denominator;
  return ((amount - rest) / denominator) * numerator + floorDiv(rest * numerator, denominator);
}

/** ceil(amount * numerator / denominator), exact for whole amounts up to 2^53-1: for what is held back. */
export function scaleUp(amount: number, numerator: number, denominator: number): number {
  const rest = amount % denominator;
  return ((amount - rest) / denominator) * numerator + ceilDiv(rest * numerator, denominator);
}

/**
 * The rule for numerator / denominator of the budget (a `Fraction`). Windows keep their length and grid. A bucket keeps its
 * exact rate; its capacity is rounded down, further where capacity x refillMs would pass 2^53-1.
 *
 * The refillMs of the result depends on the rule's refillMs alone, so tiers and raised limits go on sharing a ledger. (Where
 * it would pass 2^42 ms, 139 years, it is 2^42 and the rate is rounded down; less than one token in that time admits nothing.)
 *
 * @example scaleRule({ algorithm: 'sliding-window-log', limit: 100, windowMs: 60_000 }, 1, 3).limit // 33
 */
export function scaleRule(rule: Rule, numerator: number, denominator: number): Rule {
  if (numerator === denominator) return rule;
  if (rule.algorithm !== 'token-bucket') return { ...rule, limit: scaleDown(rule.limit, numerator, denominator) };
  const refillMs = scaleRefillMs(rule.refillMs, numerator, denominator);
  const refillTokens = scaleRefillTokens(rule, numerator, denominator, refillMs);
  const most = refillTokens === 0 ? 0 : floorDiv(MAX, refillMs);
  const capacity = Math.min(most, scaleDown(rule.capacity, numerator, denominator));
  return { ...rule, capacity, refillTokens: Math.max(1, refillTokens), refillMs };
}

/**
 * The grid of the scaled rule, from the rule's own: ruleGrid(scaleRule(rule, n, d)) = scaleGrid(ruleGrid(rule), n, d).
 *
 * @example scaleGrid('b60000', 1, 3) // 'b180000'
 */
export function scaleGrid(grid: string, numerator: number, denominator: number): string {
  if (numerator === denominator || !grid.startsWith('b')) return grid;
  return `b${scaleRefillMs(Number(grid.slice(1)), numerator, denominator)}`;
}

function scaleRefillMs(refillMs: number, numerator: number, denominator: number): number {
  return Math.min(MAX_DURATION_MS, (refillMs / gcd(numerator, refillMs)) * denominator);
}

/** floor(refillTokens * numerator / denominator * to / from), where `to` ms take the place of `from` ms. */
function scaleRefillTokens(rule: TokenBucketRule, numerator: number, denominator: number, to: number): number {
  const product = BigInt(rule.refillTokens) * BigInt(numerator) * BigInt(to);
  const tokens = product / (BigInt(rule.refillMs) * BigInt(denominator));
  return tokens > BigInt(MAX) ? MAX : Number(tokens);
}

function gcd(a: number, b: number): number {
  let [larger, smaller] = [a, b];
  while (smaller > 0) [larger, smaller] = [smaller, larger % smaller];
  return larger;
}
