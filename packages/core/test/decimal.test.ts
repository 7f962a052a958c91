import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimals } from '../src/decimal.js';

describe('whole numbers as text', () => {
  it('are what String() makes of them, whichever number came before', () => {
    const edges = [
      0,
      9,
      99,
      999,
      1_000,
      1_001,
      999_999,
      1_000_000,
      1_000_001,
      1_001_000,
      2 ** 31,
      2 ** 32,
      2 ** 53 - 1,
    ];
    const near = fc.constantFrom(...edges, ...edges.map((edge) => -edge - 1)).map((edge) => edge || 0);
    const any = fc.oneof(near, fc.maxSafeInteger(), fc.nat({ max: 2_000_000 }), fc.integer({ min: 1e12, max: 2e12 }));
    fc.assert(
      fc.property(fc.array(any, { minLength: 1, maxLength: 20 }), (numbers) => {
        const write = decimals();
        for (const n of numbers) expect(write(n)).toBe(String(n));
      }),
      { numRuns: 2_000 },
    );
  });
});
