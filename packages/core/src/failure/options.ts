/** Options of the decorators, checked once. */
import { LimiterError, shown } from '../errors.js';

/** `value` if it is a whole number in least .. most. */
export function wholeNumber(name: string, value: number, least: number, most: number): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
  throw new LimiterError(
    'ERR_LIMITER_NUMBER',
    `${name} must be a whole number from ${least} to ${most}, got ${shown(value)}`,
  );
}

/** The longest that a timer can wait on every runtime: 2^31-1 ms, 24.8 days. */
export const LONGEST_TIMER_MS = 2_147_483_647;
