/** What the options of a limit must be, and what they share with those of limiters and calls: each check says the value and the rule. */
import { floorDiv, MAX } from './algorithms/time.js';
import { checkTokens, parseDuration, parseRate } from './duration.js';
import { LimiterError, shown } from './errors.js';
import type { Amount, Refill, Reserve } from './limit.js';
import { checkName } from './names.js';

/** The upper bound of a capacity: capacity x refillMs must stay a whole number that a double holds. */
export function checkCapacity(capacity: number, refillMs: number, what: string): number {
  if (capacity > floorDiv(MAX, refillMs)) {
    throw new LimiterError(
      'ERR_LIMITER_NUMBER',
      `${what} x refill period in ms must be at most 2^53-1, got ${capacity} x ${refillMs}`,
    );
  }
  return capacity;
}

/** A limit or capacity: a whole number, 0 .. 2^53-1, or 'unlimited'. */
export function checkAmount(value: unknown, what: string): Amount {
  if (value === 'unlimited') return value;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > MAX || Object.is(value, -0)) {
    throw new LimiterError(
      'ERR_LIMITER_NUMBER',
      `${what} must be a whole number from 0 to 2^53-1 or "unlimited", got ${shown(value)}`,
    );
  }
  return value;
}

/** The axes that `by` names; none for '*'. */
export function axesOf(by: string | readonly string[] = 'subject'): string[] {
  if (by === '*') return [];
  const axes = typeof by === 'string' ? [by] : [...(Array.isArray(by) ? by : [])];
  if (axes.length === 0)
    throw new LimiterError('ERR_LIMITER_NAME', `by must name an axis, several, or "*", got ${shown(by)}`);
  for (const axis of axes) checkName(axis, 'an axis in by');
  if (new Set(axes).size < axes.length)
    throw new LimiterError('ERR_LIMITER_NAME', `by must name each axis once, got ${shown(by)}`);
  return axes;
}

/** A limit's mode, or a limiter's. */
export function checkMode(mode: unknown): void {
  if (mode === 'enforce' || mode === 'shadow') return;
  throw new LimiterError('ERR_LIMITER_OPTION', `mode must be "enforce" or "shadow", got ${shown(mode)}`);
}

/** Whole units or whole per cent, by priority. */
export function checkReserve(reserve: Reserve): Reserve {
  if (typeof reserve !== 'object' || reserve === null || Array.isArray(reserve)) {
    throw new LimiterError('ERR_LIMITER_OPTION', `reserve must be a record of priorities, got ${shown(reserve)}`);
  }
  for (const [priority, held] of Object.entries(reserve)) {
    checkName(priority, 'a priority in reserve');
    const percent = typeof held === 'string' ? /^(\d{1,3})%$/.exec(held) : null;
    const whole =
      percent === null
        ? typeof held === 'number' && Number.isSafeInteger(held) && held >= 0
        : Number(percent[1]) <= 100;
    if (!whole) {
      throw new LimiterError(
        'ERR_LIMITER_NUMBER',
        `reserve.${priority} must be whole units >= 0 or whole per cent from "0%" to "100%", got ${shown(held)}`,
      );
    }
  }
  return { ...reserve };
}

/** The tiers of a value: none when it is the same for all. */
export function tiersOf(value: unknown, what: string): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const tiers = Object.keys(value);
  if (tiers.length === 0 || Array.isArray(value))
    throw new LimiterError('ERR_LIMITER_TIERS', `${what} must be a value or a record of tiers, got ${shown(value)}`);
  for (const tier of tiers) checkName(tier, `a tier of ${what}`);
  return tiers;
}

/** The tiers of a bucket. */
export function sameTiers(capacity: readonly string[], refill: readonly string[]): readonly string[] {
  if (capacity.length === 0) return refill;
  if (refill.length > 0 && (refill.length !== capacity.length || refill.some((tier) => !capacity.includes(tier)))) {
    throw new LimiterError(
      'ERR_LIMITER_TIERS',
      `capacity and refill must have the same tiers, got ${shown([...capacity])} and ${shown([...refill])}`,
    );
  }
  return capacity;
}

/** One refill for all tiers? */
export function isPlainRefill(refill: Refill): boolean {
  return typeof refill !== 'object' || refill === null || ('tokens' in refill && 'per' in refill);
}

/** The refill of a tier. */
export function refillOf(
  refill: Refill,
  tier: string | undefined,
): { readonly tokens: number; readonly perMs: number } {
  if (typeof refill === 'object' && refill !== null) {
    if (!isPlainRefill(refill))
      return parseRate((refill as Record<string, unknown>)[tier as string], named('refill', tier));
    const { tokens, per } = refill as { readonly tokens: unknown; readonly per: unknown };
    return { tokens: checkTokens(tokens, 'refill.tokens'), perMs: parseDuration(per, 'refill.per') };
  }
  return parseRate(refill, 'refill');
}

/** The value of a tier. */
export function pick(value: unknown, tier: string | undefined): unknown {
  return typeof value === 'object' && value !== null && tier !== undefined
    ? (value as Record<string, unknown>)[tier]
    : value;
}

/** How a value is named in an error. */
export function named(what: string, tier: string | undefined): string {
  return tier === undefined ? what : `${what}.${tier}`;
}

/** An options object without unknown options. */
export function checkOptions(options: unknown, known: readonly string[], who: string): void {
  if (typeof options !== 'object' || options === null) {
    throw new LimiterError('ERR_LIMITER_OPTION', `${who}() takes an options object, got ${shown(options)}`);
  }
  checkKnown(options, known, `${who}()`);
}

/** No unknown option: a misspelt one would silently do nothing. */
export function checkKnown(options: object, known: readonly string[], who: string): void {
  for (const key of Object.keys(options)) {
    if (!known.includes(key))
      throw new LimiterError('ERR_LIMITER_OPTION', `${who} has no option ${shown(key)}; it has ${known.join(', ')}`);
  }
}
