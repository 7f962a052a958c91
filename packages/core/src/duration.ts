/** Durations as text, `'10s' | '5m' | '1h' | '7d' | '250ms'`, to whole milliseconds: the only parser of durations and rates. */
import { floorDiv, MAX } from './algorithms/time.js';
import { LimiterError, shown } from './errors.js';

/** A positive whole amount and a unit. A computed one is `${n}ms`. Checked again at run time: `'0s'`, `'-5m'` and `'0.5ms'` are refused. */
export type Duration = `${number}ms` | `${bigint}${'s' | 'm' | 'h' | 'd'}`;
/** Tokens per time: `'120/1m'`. A computed one is `${tokens}/${n}ms`. */
export type Rate = `${bigint}/${Duration}` | `${number}/${number}ms`;

/** The longest window or refill period: 2^42 ms, about 139 years. */
export const MAX_DURATION_MS: number = 2 ** 42;

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Milliseconds of a duration, 1 .. 2^42.
 *
 * @param what names the value in the error: `window`, `refill.per`.
 * @throws LimiterError ERR_LIMITER_DURATION
 * @example parseDuration('5m', 'window') // 300000
 */
export function parseDuration(text: unknown, what: string): number {
  const parts = typeof text === 'string' ? /^(\d{1,16})(ms|s|m|h|d)$/.exec(text) : null;
  const unitMs = UNIT_MS[parts?.[2] ?? ''] ?? 0;
  const amount = Number(parts?.[1]);
  if (parts === null || !(amount >= 1) || amount > floorDiv(MAX_DURATION_MS, unitMs)) {
    throw new LimiterError(
      'ERR_LIMITER_DURATION',
      `${what} must be a positive whole amount with a unit (ms, s, m, h, d), at most 2^42 ms, like "10s" or "5m", got ${shown(text)}`,
    );
  }
  return amount * unitMs;
}

/**
 * Tokens and period of a rate.
 *
 * @throws LimiterError ERR_LIMITER_DURATION for the text or the period, ERR_LIMITER_NUMBER for the tokens
 * @example parseRate('120/1m', 'refill') // { tokens: 120, perMs: 60000 }
 */
export function parseRate(text: unknown, what: string): { readonly tokens: number; readonly perMs: number } {
  const parts = typeof text === 'string' ? /^(\d+)\/([^/]+)$/.exec(text) : null;
  if (parts === null) {
    throw new LimiterError('ERR_LIMITER_DURATION', `${what} must be tokens per time like "120/1m", got ${shown(text)}`);
  }
  return { tokens: checkTokens(Number(parts[1]), `${what} tokens`), perMs: parseDuration(parts[2], `${what} period`) };
}

/** Tokens of a refill: a whole number, 1 .. 2^53-1. */
export function checkTokens(tokens: unknown, what: string): number {
  if (typeof tokens !== 'number' || !Number.isInteger(tokens) || tokens < 1 || tokens > MAX) {
    throw new LimiterError(
      'ERR_LIMITER_NUMBER',
      `${what} must be a whole number from 1 to 2^53-1, got ${shown(tokens)}`,
    );
  }
  return tokens;
}
