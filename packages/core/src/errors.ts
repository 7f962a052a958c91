/** Every mistake is a LimiterError: a stable code, the value, and the rule that it breaks. docs/errors.md has a section per code. */

/** The codes, in one union. A code never changes its meaning; new mistakes get new codes. */
export type LimiterErrorCode =
  | 'ERR_LIMITER_NAME'
  | 'ERR_LIMITER_NUMBER'
  | 'ERR_LIMITER_DURATION'
  | 'ERR_LIMITER_OPTION'
  | 'ERR_LIMITER_LIMITS'
  | 'ERR_LIMITER_DUPLICATE_LEDGER'
  | 'ERR_LIMITER_TIERS'
  | 'ERR_LIMITER_TIER'
  | 'ERR_LIMITER_PRIORITY'
  | 'ERR_LIMITER_SUBJECT'
  | 'ERR_LIMITER_COST'
  | 'ERR_LIMITER_UNKNOWN_LIMIT'
  | 'ERR_LIMITER_RECEIPT'
  | 'ERR_LIMITER_STORE'
  | 'ERR_LIMITER_STORE_UNSUITABLE'
  | 'ERR_LIMITER_STORE_FAILURE'
  | 'ERR_LIMITER_FAILURE_POLICY'
  | 'ERR_LIMITER_CLOCK'
  | 'ERR_LIMITER_CLOSED'
  | 'ERR_LIMITER_CROSS_SLOT'
  | 'ERR_LIMITER_CLIENT'
  | 'ERR_LIMITER_SCHEMA';

/**
 * A mistake in how the library is used, which charges nothing; or, with ERR_LIMITER_STORE_FAILURE, a store that failed where
 * `onStoreFailure: 'throw'` was chosen: then the message names the fault, and an `unknown-outcome` may have charged.
 *
 * @example
 * try { fixedWindow({ limit: 0.5, window: '1m' }); } catch (error) { (error as LimiterError).code; } // 'ERR_LIMITER_NUMBER'
 */
export class LimiterError extends Error {
  readonly code: LimiterErrorCode;

  constructor(code: LimiterErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'LimiterError';
    this.code = code;
  }
}

/** A value as it stands in a message: short, and readable for any type. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}...` : value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) {
    if (Array.isArray(value)) return `[${value.slice(0, 5).map(shown).join(', ')}${value.length > 5 ? ', ...' : ''}]`;
    return `{ ${Object.keys(value).slice(0, 5).join(', ')} }`;
  }
  return Object.is(value, -0) ? '-0' : String(value);
}

/** One line about a cause of any type. */
export function causeText(cause: unknown): string {
  if (cause instanceof Error) return cause.message;
  return typeof cause === 'string' ? cause : shown(cause);
}
