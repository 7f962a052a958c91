/** Time and whole-number arithmetic that the algorithms share. Everything is an integer; nothing passes 2^53-1. */

/** A clock that is at most this far behind a ledger's anchor is waited for; further back, the ledger moves with it. */
export const STEP_BACK_MS = 2_000;

/** 2^53-1. */
export const MAX: number = Number.MAX_SAFE_INTEGER;

/**
 * floor(a / b) for integers 0 <= a <= 2^53-1, b >= 1, exactly. Every whole number up to 2^53 is a double and rounding keeps
 * order, so the rounded quotient never falls below its floor, and passes it by one at most: then the product shows it. (`a % b`
 * would be shorter, and takes five times as long where a number does not fit in 32 bits.)
 */
export function floorDiv(a: number, b: number): number {
  const quotient = Math.floor(a / b);
  return quotient * b > a ? quotient - 1 : quotient;
}

/** ceil(a / b), as exact as `floorDiv`. */
export function ceilDiv(a: number, b: number): number {
  const quotient = floorDiv(a, b);
  return quotient * b === a ? quotient : quotient + 1;
}
