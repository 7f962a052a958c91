/** Time and whole-number arithmetic that the algorithms share. Everything is an integer; nothing passes 2^53-1. */

/** A clock that is at most this far behind a ledger's anchor is waited for; further back, the ledger moves with it. */
export const STEP_BACK_MS = 2_000;

/** 2^53-1. */
export const MAX: number = Number.MAX_SAFE_INTEGER;

/**
 * ceil(a / b) for integers a >= 0, b >= 1, exact up to 2^53-1: a - a % b divides evenly, so the division is exact,
 * which Math.ceil(a / b) is not.
 */
export function ceilDiv(a: number, b: number): number {
  const rest = a % b;
  return (a - rest) / b + (rest > 0 ? 1 : 0);
}

/** floor(a / b) for integers a >= 0, b >= 1, exact up to 2^53-1. */
export function floorDiv(a: number, b: number): number {
  return (a - (a % b)) / b;
}
