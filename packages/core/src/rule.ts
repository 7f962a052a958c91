/** A rule: the numbers by which one ledger is judged, as plain data that any store can carry. "The three algorithms" in docs/concepts.md gives the meaning. */

/** At most `limit` cost in a window of `windowMs`. See algorithms/fixed-window.ts. */
export interface FixedWindowRule {
  readonly algorithm: 'fixed-window';
  /** Whole cost per window, 0 .. 2^53-1; 0 admits nothing. */
  readonly limit: number;
  /** 1 .. 2^42 ms. */
  readonly windowMs: number;
  /** `clock`: windows start at `offsetMs` + n x `windowMs` since the epoch. `first-request`: at the first admitted charge after the last one ended. */
  readonly align: 'clock' | 'first-request';
  /** 0 <= offsetMs < windowMs; 0 for `first-request`. */
  readonly offsetMs: number;
}

/** At most `limit` cost in any interval of `windowMs`. See algorithms/sliding-window-log.ts. */
export interface SlidingWindowLogRule {
  readonly algorithm: 'sliding-window-log';
  /** Whole cost, 0 .. 2^53-1. */
  readonly limit: number;
  /** 1 .. 2^42 ms. */
  readonly windowMs: number;
}

/** `capacity` tokens, `refillTokens` of which come back every `refillMs`, continuously. See algorithms/token-bucket.ts. */
export interface TokenBucketRule {
  readonly algorithm: 'token-bucket';
  /** Whole tokens, 0 .. 2^53-1, and capacity x refillMs <= 2^53-1. */
  readonly capacity: number;
  /** 1 .. 2^53-1. */
  readonly refillTokens: number;
  /** 1 .. 2^42 ms. */
  readonly refillMs: number;
}

export type Rule = FixedWindowRule | SlidingWindowLogRule | TokenBucketRule;
export type AlgorithmName = Rule['algorithm'];

/** The most that a rule ever lets be used at once: its limit, or its capacity. */
export function ruleLimit(rule: Rule): number {
  return rule.algorithm === 'token-bucket' ? rule.capacity : rule.limit;
}

/**
 * The part of a ledger's identity that its rule decides: algorithm, window and grid. Two rules with the same grid share
 * a ledger, so a limit may be raised or lowered without forgetting what was used; another grid is another ledger.
 *
 * @example ruleGrid({ algorithm: 'fixed-window', limit: 5, windowMs: 60_000, align: 'clock', offsetMs: 0 }) // 'f60000'
 */
export function ruleGrid(rule: Rule): string {
  switch (rule.algorithm) {
    case 'fixed-window':
      if (rule.align === 'first-request') return `r${rule.windowMs}`;
      return rule.offsetMs === 0 ? `f${rule.windowMs}` : `f${rule.windowMs}+${rule.offsetMs}`;
    case 'sliding-window-log':
      return `l${rule.windowMs}`;
    case 'token-bucket':
      return `b${rule.refillMs}`;
  }
}
