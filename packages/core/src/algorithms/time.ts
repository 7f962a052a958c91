/** Time and whole-number arithmetic that the algorithms share. Everything is an integer; nothing passes 2^53-1. */

/** A clock that is at most this far behind a ledger's anchor is waited for; further back, the ledger moves with it. */
export const STEP_BACK_MS = 2_000;

/** 2^53-1. */
export const MAX: number = Number.MAX_SAFE_INTEGER;

/**
 * floor(a / b) for integers 0 <= a <= 2^53-1, b >= 1, exactly. A quotient just below a whole number n differs from it by at least
 * 1/b, and n * b <= 2^53, so doubles near n are at most 2/b apart: it is never rounded up to n. (`a - a % b` would do as
 * well, and takes five times as long where a number does not fit in 32 bits.)
 */
export function floorDiv(a: number, b: number): number {
  return Math.floor(a / b);
}

/** ceil(a / b), as exact as `floorDiv`. (Math.ceil(a / b) is not: a quotient just above a whole number may be rounded down to it.) */
export function ceilDiv(a: number, b: number): number {
  const quotient = floorDiv(a, b);
  return quotient * b === a ? quotient : quotient + 1;
}
