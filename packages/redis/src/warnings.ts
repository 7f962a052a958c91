/** What an operator should hear of, once, without anything failing: process warnings with a code, or the caller's `onWarning`. */

export type RedisWarningCode =
  /** A shared connection whose options can run a step twice or late. */
  | 'LIMITER_REDIS_SHARED_CONNECTION'
  /** The server may evict ledgers: an evicted ledger is a free budget. */
  | 'LIMITER_REDIS_EVICTION'
  /** TIME is not allowed: the deadline of a call cannot be checked by the server. */
  | 'LIMITER_REDIS_CLOCK';

export interface RedisWarning {
  readonly code: RedisWarningCode;
  readonly message: string;
}

/** Default: process.emitWarning, shown by Node as `(LIMITER_REDIS_EVICTION) LimiterWarning: ...`. */
export function emitWarning(warning: RedisWarning): void {
  process.emitWarning(warning.message, { type: 'LimiterWarning', code: warning.code });
}
