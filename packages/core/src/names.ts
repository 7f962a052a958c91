/** Names of limiters, limits, axes, tiers, priorities and shared ledgers: one rule for all of them. */
import { LimiterError, shown } from './errors.js';

const NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/**
 * A letter, then up to 63 letters, digits or `_ . -`. Names are part of every key and stand in headers and metrics; beginning
 * with a letter keeps a record's order (a name like "1" would jump the queue) and keeps `__proto__` out.
 *
 * @throws LimiterError ERR_LIMITER_NAME
 */
export function checkName(name: unknown, what: string): string {
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new LimiterError(
      'ERR_LIMITER_NAME',
      `${what} must begin with a letter and hold only letters, digits, "_", "." and "-" (at most 64), got ${shown(name)}`,
    );
  }
  return name;
}
