import { describe, expect, it } from 'vitest';
import { fullAgainAt } from '../src/index.js';

describe('a ledger may be forgotten', () => {
  it('when its window has ended, whatever is used', () => {
    const rule = { algorithm: 'fixed-window', limit: 5, windowMs: 1_000, align: 'first-request', offsetMs: 0 } as const;
    expect(fullAgainAt(rule, { start: 7_300, used: 0, id: 1 })).toBe(8_300);
  });

  it('when its bucket is full again, rounded up to the ms', () => {
    const rule = { algorithm: 'token-bucket', capacity: 5, refillTokens: 3, refillMs: 1_000 } as const;
    expect(fullAgainAt(rule, { debt: 2_000, at: 500, charged: 2, id: 1 })).toBe(500 + 667);
    expect(fullAgainAt(rule, { debt: 0, at: 500, charged: 2, id: 1 })).toBe(500);
  });
});
