import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Rule, TokenBucketRule } from '../src/index.js';
import { ruleGrid } from '../src/index.js';
import { scaleDown, scaleGrid, scaleRule, scaleUp, shareAsFraction } from '../src/scale.js';

const MAX = Number.MAX_SAFE_INTEGER;
const LONGEST = 2 ** 42;

describe('a share is read as the fraction that was meant', () => {
  it.each([
    [1, 1, 1],
    [0.5, 1, 2],
    [1 / 3, 1, 3],
    [2 / 3, 2, 3],
    [0.1, 1, 10],
    [0.3, 3, 10],
    [1 / 7, 1, 7],
    [0.333, 333, 1_000],
    [0.999_999, 999_999, 1_000_000],
    [0.000_001, 1, 1_000_000],
    [1 / 999_983, 1, 999_983],
  ])('%d is %d/%d', (share, numerator, denominator) => {
    expect(shareAsFraction(share)).toEqual({ numerator, denominator });
  });

  it('a share that no such fraction is gets rounded down to millionths', () => {
    expect(shareAsFraction(Math.PI / 4)).toEqual({ numerator: 392_699, denominator: 500_000 });
    // One step of the double below 1/4.
    expect(shareAsFraction(0.25 - 2 ** -55)).toEqual({ numerator: 249_999, denominator: 1_000_000 });
  });

  it('every fraction is found again from its double', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000 }), fc.integer({ min: 1, max: 2_000 }), (a, b) => {
        const [small, large] = a < b ? [a, b] : [b, a];
        const { numerator, denominator } = shareAsFraction(small / large);
        expect(numerator * large).toBe(small * denominator);
        expect(denominator).toBeLessThanOrEqual(large);
      }),
    );
  });

  it('is never more than what was given', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.000_001, max: 1, noNaN: true }), (share) => {
        const { numerator, denominator } = shareAsFraction(share);
        expect(numerator / denominator).toBeLessThanOrEqual(share);
        expect(numerator).toBeGreaterThanOrEqual(1);
        expect(denominator).toBeLessThanOrEqual(1_000_000);
      }),
      { numRuns: 50 },
    );
  });

  it.each([0, -0.5, 1.000_001, 0.000_000_9, Number.NaN, Number.POSITIVE_INFINITY, '0.5', undefined])(
    'refuses %s',
    (share) => {
      expect(() => shareAsFraction(share as number)).toThrow(expect.objectContaining({ code: 'ERR_LIMITER_NUMBER' }));
    },
  );
});

const fraction = fc
  .tuple(fc.integer({ min: 1, max: 1_000_000 }), fc.integer({ min: 1, max: 1_000_000 }))
  .map(([a, b]) => (a < b ? { numerator: a, denominator: b } : { numerator: b, denominator: a }));
/** Small and large alike: the exponent is uniform, not the value. */
const upTo = (most: number, least = 0): fc.Arbitrary<number> =>
  fc
    .tuple(fc.integer({ min: 0, max: 53 }), fc.double({ min: 0, max: 1, noNaN: true }))
    .map(([bits, part]) => Math.max(least, Math.min(most, Math.floor(2 ** bits * part))));
const bucketRule: fc.Arbitrary<TokenBucketRule> = fc
  .tuple(upTo(LONGEST, 1), upTo(MAX, 1), upTo(MAX))
  .map(([refillMs, refillTokens, capacity]) => ({
    algorithm: 'token-bucket',
    capacity: Math.min(capacity, (MAX - (MAX % refillMs)) / refillMs),
    refillTokens,
    refillMs,
  }));

describe('amounts are scaled in whole numbers', () => {
  it('down for what may be used, up for what is held back, exactly', () => {
    fc.assert(
      fc.property(upTo(MAX), fraction, (amount, { numerator, denominator }) => {
        const exact = BigInt(amount) * BigInt(numerator);
        const floor = exact / BigInt(denominator);
        const ceil = (exact + BigInt(denominator) - 1n) / BigInt(denominator);
        expect(BigInt(scaleDown(amount, numerator, denominator))).toBe(floor);
        expect(BigInt(scaleUp(amount, numerator, denominator))).toBe(ceil);
      }),
    );
  });

  it.each([
    { limit: 100, down: 33, up: 34 },
    { limit: 3, down: 1, up: 1 },
    { limit: 2, down: 0, up: 1 },
    { limit: 0, down: 0, up: 0 },
    { limit: MAX, down: 3_002_399_751_580_330, up: 3_002_399_751_580_331 },
  ])('a third of $limit is $down, or $up held back', ({ limit, down, up }) => {
    expect([scaleDown(limit, 1, 3), scaleUp(limit, 1, 3)]).toEqual([down, up]);
  });
});

describe('a scaled rule', () => {
  it('of a window keeps its length and its grid', () => {
    const fixed: Rule = { algorithm: 'fixed-window', limit: 100, windowMs: 60_000, align: 'clock', offsetMs: 7 };
    expect(scaleRule(fixed, 1, 3)).toEqual({ ...fixed, limit: 33 });
    const log: Rule = { algorithm: 'sliding-window-log', limit: 100, windowMs: 60_000 };
    expect(scaleRule(log, 2, 3)).toEqual({ ...log, limit: 66 });
  });

  it('of a bucket keeps the exact rate by taking longer', () => {
    const rule: Rule = { algorithm: 'token-bucket', capacity: 100, refillTokens: 1, refillMs: 1_000 };
    expect(scaleRule(rule, 1, 3)).toEqual({ ...rule, capacity: 33, refillTokens: 1, refillMs: 3_000 });
    expect(scaleRule(rule, 2, 3)).toEqual({ ...rule, capacity: 66, refillTokens: 1, refillMs: 1_500 });
    expect(scaleRule(rule, 3, 7)).toEqual({ ...rule, capacity: 42, refillTokens: 3, refillMs: 7_000 });
  });

  it('is the rule itself for the whole share', () => {
    const rule: Rule = { algorithm: 'token-bucket', capacity: 100, refillTokens: 1, refillMs: 1_000 };
    expect(scaleRule(rule, 1, 1)).toBe(rule);
  });

  it('of a bucket never refills faster than its share, holds more than its share, or leaves the range', () => {
    fc.assert(
      fc.property(bucketRule, fraction, (rule, { numerator, denominator }) => {
        const scaled = scaleRule(rule, numerator, denominator) as TokenBucketRule;
        const [n, d] = [BigInt(numerator), BigInt(denominator)];
        expect(BigInt(scaled.capacity) * d <= BigInt(rule.capacity) * n).toBe(true);
        expect(BigInt(scaled.capacity) * BigInt(scaled.refillMs) <= BigInt(MAX)).toBe(true);
        expect(scaled.refillTokens >= 1 && scaled.refillTokens <= MAX).toBe(true);
        expect(scaled.refillMs >= 1 && scaled.refillMs <= LONGEST).toBe(true);
        for (const value of [scaled.capacity, scaled.refillTokens, scaled.refillMs])
          expect(Number.isSafeInteger(value)).toBe(true);
        const faster =
          BigInt(scaled.refillTokens) * BigInt(rule.refillMs) * d >
          BigInt(rule.refillTokens) * n * BigInt(scaled.refillMs);
        // A rate below one token in 2^42 ms cannot be said; such a bucket holds nothing.
        expect(faster && scaled.capacity > 0).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it('of a bucket has the exact rate wherever its time stays within range and its tokens below 2^53', () => {
    fc.assert(
      fc.property(bucketRule, fraction, (rule, { numerator, denominator }) => {
        const scaled = scaleRule(rule, numerator, denominator) as TokenBucketRule;
        fc.pre(scaled.refillMs < LONGEST && scaled.refillTokens < MAX);
        expect(BigInt(scaled.refillTokens) * BigInt(rule.refillMs) * BigInt(denominator)).toBe(
          BigInt(rule.refillTokens) * BigInt(numerator) * BigInt(scaled.refillMs),
        );
      }),
    );
  });

  it('a rate below one token in 139 years admits nothing', () => {
    const slow: Rule = { algorithm: 'token-bucket', capacity: 10, refillTokens: 1, refillMs: LONGEST };
    expect(scaleRule(slow, 1, 2)).toEqual({ ...slow, capacity: 0 });
    const enough: Rule = { ...slow, refillTokens: 5, capacity: 10 };
    expect(scaleRule(enough, 1, 2)).toEqual({ ...enough, capacity: 5, refillTokens: 2 });
  });

  it('has the grid that scaleGrid tells from the grid alone, whatever the limit and the rate', () => {
    fc.assert(
      fc.property(bucketRule, fraction, (rule, { numerator, denominator }) => {
        const scaled = scaleRule(rule, numerator, denominator);
        expect(scaleGrid(ruleGrid(rule), numerator, denominator)).toBe(ruleGrid(scaled));
      }),
    );
    for (const grid of ['f60000', 'f60000+7', 'r60000', 'l60000']) expect(scaleGrid(grid, 1, 3)).toBe(grid);
    // All of it is the rule as it was, in lowest terms or not.
    for (const all of [1, 2, 5, 60_000]) expect(scaleGrid('b1', all, all)).toBe('b1');
  });
});
