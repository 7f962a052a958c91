import { describe, expect, it } from 'vitest';
import type { SlidingWindowLogRule } from '../../src/index.js';
import { oneLedger } from './one-ledger.js';

const rule: SlidingWindowLogRule = { algorithm: 'sliding-window-log', limit: 3, windowMs: 10_000 };

describe('a sliding window log', () => {
  it('a charge counts for exactly the window: at its end it does not', () => {
    const one = oneLedger(rule);
    for (const now of [0, 4_000, 8_000]) expect(one.consume(now, 1).admits).toBe(true);
    expect(one.consume(9_000, 1)).toMatchObject({ admits: false, retryAfterMs: 1_000 });
    expect(one.consume(9_999, 1)).toMatchObject({ admits: false, retryAfterMs: 1 });
    expect(one.consume(10_000, 1)).toMatchObject({
      admits: true,
      remaining: 0,
      moreAfterMs: 4_000,
      resetAfterMs: 10_000,
    });
  });

  it('the wait of a larger cost is that of the last unit that must go', () => {
    const one = oneLedger(rule);
    one.consume(0, 1);
    one.consume(3_000, 2);
    expect(one.peek(5_000, 1).retryAfterMs).toBe(5_000);
    expect(one.peek(5_000, 2).retryAfterMs).toBe(8_000);
    expect(one.peek(5_000, 4).retryAfterMs).toBe(Number.POSITIVE_INFINITY);
  });

  it('refused tries leave no trace, so a client that polls gets in', () => {
    const one = oneLedger(rule);
    one.consume(0, 3);
    for (let now = 100; now < 10_000; now += 100) expect(one.consume(now, 1).admits).toBe(false);
    expect(one.consume(10_000, 3).admits).toBe(true);
  });

  it('is evaluated at the newest entry while the clock is up to 2,000 ms behind it', () => {
    const one = oneLedger(rule);
    one.consume(20_000, 1);
    expect(one.consume(18_000, 3)).toMatchObject({
      admits: false,
      retryAfterMs: 12_000,
      resetAfterMs: 12_000,
      moreAfterMs: 12_000,
    });
    expect(one.consume(18_000, 2)).toMatchObject({ admits: true, resetAfterMs: 12_000 });
  });

  it('shifts all entries when the clock is further behind, the newest to now', () => {
    const one = oneLedger(rule);
    one.consume(15_000, 1);
    one.consume(20_000, 2);
    expect(one.peek(10_000, 1)).toMatchObject({ admits: false, retryAfterMs: 5_000 });
    expect(one.consume(10_000, 2), 'the wait of the second unit is the newest entry').toMatchObject({
      retryAfterMs: 10_000,
    });
    expect(one.consume(15_000, 1), 'the first entry now lies at 5,000').toMatchObject({
      admits: true,
      moreAfterMs: 5_000,
    });
  });

  it('a receipt follows its entry through a shift, and gives back while the entry counts', () => {
    const one = oneLedger(rule);
    const { mark } = one.consume(20_000, 2);
    one.consume(10_000, 1);
    expect(one.giveBack(19_999, mark, 2, 1)).toBe(1);
    expect(one.giveBack(20_000, mark, 2, 1), 'expired').toBe(0);
  });

  it('an entry that was given back keeps its place as the anchor', () => {
    const one = oneLedger(rule);
    one.consume(0, 1);
    const { mark } = one.consume(5_000, 2);
    one.giveBack(5_000, mark, 2, 2);
    expect(one.peek(4_000, 3), 'one second behind the anchor').toMatchObject({ admits: false, retryAfterMs: 6_000 });
    expect(one.peek(5_000, 3).resetAfterMs).toBe(5_000);
  });

  it('with more used than the limit, remaining grows when enough has gone', () => {
    const one = oneLedger(rule);
    for (const now of [0, 1_000, 2_000]) one.consume(now, 1);
    one.rule = { ...rule, limit: 1 };
    expect(one.peek(3_000, 1)).toMatchObject({ remaining: 0, moreAfterMs: 9_000, retryAfterMs: 9_000 });
    one.rule = { ...rule, limit: 0 };
    expect(one.peek(3_000, 1)).toMatchObject({
      moreAfterMs: 0,
      retryAfterMs: Number.POSITIVE_INFINITY,
      resetAfterMs: 9_000,
    });
  });

  it('settling charges a new entry now, up to twice the limit', () => {
    const one = oneLedger(rule);
    one.consume(0, 3);
    expect(one.chargeMore(1_000, 4)).toEqual({ givenBack: 0, charged: 3, cut: 1 });
    expect(one.peek(10_000, 1), 'the first three have gone, three remain').toMatchObject({
      admits: false,
      retryAfterMs: 1_000,
    });
  });
});
