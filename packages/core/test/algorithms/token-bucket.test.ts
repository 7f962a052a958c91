import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { ceilDiv, floorDiv } from '../../src/algorithms/time.js';
import type { TokenBucketRule } from '../../src/index.js';
import { oneLedger } from './one-ledger.js';

/** 3 tokens, one comes back every 20 s. */
const rule: TokenBucketRule = { algorithm: 'token-bucket', capacity: 3, refillTokens: 3, refillMs: 60_000 };

describe('a token bucket', () => {
  it('admits its capacity at once, then one token each 20 s: "3 per minute" is no window', () => {
    const one = oneLedger(rule);
    expect([0, 0, 0, 0].map(() => one.consume(0, 1).admits)).toEqual([true, true, true, false]);
    expect(one.consume(0, 1).retryAfterMs).toBe(20_000);
    expect(one.consume(19_999, 1)).toMatchObject({ admits: false, retryAfterMs: 1 });
    expect(one.consume(20_000, 1).admits).toBe(true);
  });

  it('reports whole free tokens, when the next comes, and when it is full', () => {
    const one = oneLedger(rule);
    expect(one.consume(0, 2)).toMatchObject({ remaining: 1, resetAfterMs: 40_000, moreAfterMs: 20_000 });
    expect(one.peek(10_000, 1)).toMatchObject({ remaining: 1, resetAfterMs: 30_000, moreAfterMs: 10_000 });
    expect(one.peek(20_000, 1)).toMatchObject({ remaining: 2, resetAfterMs: 20_000, moreAfterMs: 20_000 });
    expect(one.peek(40_000, 1)).toMatchObject({ remaining: 3, resetAfterMs: 0, moreAfterMs: 0 });
  });

  it('holds back from the priorities that are named, and waits for the tokens beyond it', () => {
    const one = oneLedger(rule);
    one.consume(0, 1);
    expect(one.peek(0, 1, 2)).toMatchObject({ admits: false, heldBack: true, remaining: 0, retryAfterMs: 20_000 });
    expect(one.peek(0, 2, 2)).toMatchObject({ admits: false, heldBack: true, retryAfterMs: Number.POSITIVE_INFINITY });
    expect(one.peek(0, 3, 2)).toMatchObject({ heldBack: false });
  });

  it('is evaluated at the last charge while the clock is up to 2,000 ms behind it', () => {
    const one = oneLedger(rule);
    one.consume(100_000, 3);
    expect(one.consume(98_000, 1)).toMatchObject({ admits: false, retryAfterMs: 22_000, resetAfterMs: 62_000 });
    expect(one.state()).toMatchObject({ at: 100_000 });
  });

  it('moves to now when the clock is further behind, and keeps the debt', () => {
    const one = oneLedger(rule);
    one.consume(100_000, 3);
    expect(one.consume(97_999, 1)).toMatchObject({ admits: false, retryAfterMs: 20_000 });
    expect(one.state()).toMatchObject({ at: 97_999, debt: 180_000 });
  });

  it('gives back what refill has not returned already', () => {
    const one = oneLedger(rule);
    const { mark } = one.consume(0, 3);
    expect(one.giveBack(20_000, mark, 3, 3)).toBe(2);
    expect(one.peek(20_000, 3).admits).toBe(true);
  });

  it('a refund of one charge never touches what was charged since', () => {
    const one = oneLedger({ ...rule, capacity: 4 });
    const { mark } = one.consume(0, 2);
    one.consume(0, 2);
    expect(one.giveBack(0, mark, 2, 2)).toBe(2);
    expect(one.peek(0, 1).remaining).toBe(2);
  });

  it('settling goes up to a debt of twice the capacity, in whole tokens', () => {
    const one = oneLedger(rule);
    one.consume(0, 3);
    expect(one.chargeMore(10_000, 9), 'half a token has come back; it is not whole').toMatchObject({
      charged: 3,
      cut: 6,
    });
  });

  it('keeps its identity while the running sum is 2^53-1 at most', () => {
    const one = oneLedger({ algorithm: 'token-bucket', capacity: 2 ** 52, refillTokens: 2 ** 53 - 1, refillMs: 1 });
    one.consume(0, 2 ** 52);
    one.consume(1, 2 ** 52 - 1);
    expect(one.state()).toMatchObject({ charged: 2 ** 53 - 1, id: 1 });
  });

  it('a refund that finds nothing left to give writes nothing', () => {
    const one = oneLedger(rule);
    const { mark } = one.consume(0, 1);
    one.consume(0, 1);
    const before = one.state();
    expect(one.giveBack(0, mark, 1, 0)).toBe(0);
    expect(one.state()).toBe(before);
  });

  it('starts a new identity before its running sum would pass 2^53-1, so that an old receipt gives back nothing', () => {
    const one = oneLedger({ algorithm: 'token-bucket', capacity: 2 ** 52, refillTokens: 2 ** 53 - 1, refillMs: 1 });
    const { mark } = one.consume(0, 2 ** 52);
    one.consume(1, 2 ** 52);
    expect(one.state()).toMatchObject({ charged: 2 ** 52, id: 2 });
    expect(one.giveBack(1, mark, 2 ** 52, 1)).toBe(0);
  });
});

const whole = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const positive = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });

describe('whole-number division', () => {
  it('is exact at the edges of what a double holds', () => {
    const most = Number.MAX_SAFE_INTEGER;
    for (const b of [1, 2, 3, 5, 7, 1_000, 60_000, 2 ** 26 - 1, 2 ** 26, 2 ** 26 + 1, 2 ** 42, most - 1, most]) {
      for (const n of [1, 2, 3, Math.floor(most / b) - 1, Math.floor(most / b)]) {
        for (const a of [n * b - 1, n * b, n * b + 1]) {
          if (a < 0 || a > most || n < 1) continue;
          expect(BigInt(floorDiv(a, b)), `floor(${a} / ${b})`).toBe(BigInt(a) / BigInt(b));
          expect(BigInt(ceilDiv(a, b)), `ceil(${a} / ${b})`).toBe((BigInt(a) + BigInt(b) - 1n) / BigInt(b));
        }
      }
    }
  });

  test.prop([whole, positive])('ceilDiv and floorDiv agree with BigInt up to 2^53-1', (a, b) => {
    expect(BigInt(floorDiv(a, b))).toBe(BigInt(a) / BigInt(b));
    expect(BigInt(ceilDiv(a, b))).toBe((BigInt(a) + BigInt(b) - 1n) / BigInt(b));
  });
});
