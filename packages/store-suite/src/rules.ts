/** Rules in short form, and the four kinds of limit that most sentences are about. */
import type { FixedWindowRule, Rule, SlidingWindowLogRule, TokenBucketRule } from '@limiter/core';

/** The longest window, 139 years: it does not end while a check runs, whatever the clock. */
export const LONG: number = 2 ** 42;

export function clockWindow(limit: number, windowMs: number, offsetMs = 0): FixedWindowRule {
  return { algorithm: 'fixed-window', limit, windowMs, align: 'clock', offsetMs };
}

export function firstRequestWindow(limit: number, windowMs: number): FixedWindowRule {
  return { algorithm: 'fixed-window', limit, windowMs, align: 'first-request', offsetMs: 0 };
}

export function log(limit: number, windowMs: number): SlidingWindowLogRule {
  return { algorithm: 'sliding-window-log', limit, windowMs };
}

export function bucket(capacity: number, refillTokens: number, refillMs: number): TokenBucketRule {
  return { algorithm: 'token-bucket', capacity, refillTokens, refillMs };
}

export interface Kind {
  /** As it stands in a sentence: 'a token bucket'. */
  readonly name: string;
  /** At most `limit` at once; all of it is back `windowMs` after it was used at once. */
  readonly rule: (limit: number, windowMs: number) => Rule;
}

export const KINDS: readonly Kind[] = [
  { name: 'a fixed window on the clock', rule: (limit, windowMs) => clockWindow(limit, windowMs) },
  { name: 'a fixed window from the first request', rule: firstRequestWindow },
  { name: 'a sliding window log', rule: log },
  { name: 'a token bucket', rule: (limit, windowMs) => bucket(limit, Math.max(1, limit), windowMs) },
];

/** One check for each kind of limit. */
export function forEachKind<C>(make: (kind: Kind) => C): readonly C[] {
  return KINDS.map(make);
}
