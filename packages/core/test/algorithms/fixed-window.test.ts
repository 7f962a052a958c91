import { describe, expect, it } from 'vitest';
import type { FixedWindowRule } from '../../src/index.js';
import { oneLedger } from './one-ledger.js';

const rule: FixedWindowRule = { algorithm: 'fixed-window', limit: 3, windowMs: 10_000, align: 'clock', offsetMs: 0 };

describe('a fixed window aligned to the clock', () => {
  it('holds at most its limit in each window, closed left and open right', () => {
    const one = oneLedger(rule);
    const table = [
      { now: 0, cost: 2, admits: true, remaining: 1, retryAfterMs: 0, why: 'the first charge opens the window' },
      {
        now: 9_999,
        cost: 1,
        admits: true,
        remaining: 0,
        retryAfterMs: 0,
        why: 'one ms before the boundary it is the same window',
      },
      {
        now: 9_999,
        cost: 1,
        admits: false,
        remaining: 0,
        retryAfterMs: 1,
        why: 'full: the retry time is the boundary',
      },
      {
        now: 10_000,
        cost: 3,
        admits: true,
        remaining: 0,
        retryAfterMs: 0,
        why: 'at the boundary the next window is open',
      },
      {
        now: 12_000,
        cost: 4,
        admits: false,
        remaining: 0,
        retryAfterMs: Infinity,
        why: 'more than the limit never fits',
      },
      {
        now: 12_000,
        cost: 1,
        admits: false,
        remaining: 0,
        retryAfterMs: 8_000,
        why: 'a denial waits for the end of the window',
      },
      {
        now: 35_000,
        cost: 3,
        admits: true,
        remaining: 0,
        retryAfterMs: 0,
        why: 'windows in which nothing happened leave no trace',
      },
    ];
    for (const { now, cost, why, ...expected } of table) expect(one.consume(now, cost), why).toMatchObject(expected);
  });

  it('an offset shifts the grid, also before the first boundary of the epoch', () => {
    const one = oneLedger({ ...rule, offsetMs: 4_000 });
    expect(one.consume(3_999, 3)).toMatchObject({ admits: true, resetAfterMs: 1 });
    expect(one.consume(4_000, 3)).toMatchObject({ admits: true, resetAfterMs: 10_000 });
    expect(one.peek(13_999, 1).retryAfterMs).toBe(1);
  });

  it('two budgets can pass in a trailing window across a boundary, never three', () => {
    const one = oneLedger(rule);
    const admitted = [9_999, 9_999, 9_999, 10_000, 10_000, 10_000, 19_998].filter((now) => one.consume(now, 1).admits);
    expect(admitted).toHaveLength(6);
  });

  it('a refusal leaves the state untouched', () => {
    const one = oneLedger(rule);
    one.consume(0, 2);
    const before = one.state();
    expect(one.consume(1, 2).admits).toBe(false);
    expect(one.state()).toBe(before);
  });

  it('a step back of up to 2,000 ms waits for the clock: each wait is that much longer', () => {
    const one = oneLedger(rule);
    one.consume(10_000, 3);
    expect(one.consume(9_999, 1)).toMatchObject({ admits: false, retryAfterMs: 10_001 });
    expect(one.consume(8_000, 1)).toMatchObject({
      admits: false,
      retryAfterMs: 12_000,
      resetAfterMs: 12_000,
      moreAfterMs: 12_000,
    });
  });

  it('further back the window moves with the clock, keeps what was used, and a denial stores the move', () => {
    const one = oneLedger(rule);
    one.consume(10_000, 3);
    expect(one.peek(7_999, 1)).toMatchObject({ admits: false, retryAfterMs: 2_001 });
    expect(one.state()).toMatchObject({ start: 10_000 });
    expect(one.consume(7_999, 1)).toMatchObject({ admits: false, retryAfterMs: 2_001 });
    expect(one.state()).toMatchObject({ start: 0, used: 3 });
    expect(one.consume(10_000, 3).admits, 'one extra budget for one step').toBe(true);
  });

  it('a refund counts only in the window that was charged, and for at most what was charged', () => {
    const one = oneLedger(rule);
    const { mark } = one.consume(0, 2);
    expect(one.giveBack(5_000, mark, 2, 5)).toBe(2);
    expect(one.peek(5_000, 3).admits).toBe(true);
    const late = one.consume(9_000, 3).mark;
    expect(one.giveBack(10_000, late, 3, 3)).toBe(0);
    one.consume(10_000, 1);
    expect(one.giveBack(10_001, late, 3, 3), 'another window has another identity').toBe(0);
  });

  it('a refund after the window has moved with the clock gives back nothing', () => {
    const one = oneLedger(rule);
    const { mark } = one.consume(10_000, 2);
    one.consume(5_000, 3);
    expect(one.giveBack(5_000, mark, 2, 2)).toBe(0);
  });

  it('a refund that finds nothing left to give writes nothing', () => {
    const one = oneLedger(rule);
    const { mark } = one.consume(0, 2);
    one.giveBack(1, mark, 2, 2);
    const before = one.state();
    expect(one.giveBack(1, mark, 2, 2)).toBe(0);
    expect(one.state()).toBe(before);
  });

  it('settling charges up to twice the limit and reports what was cut', () => {
    const one = oneLedger(rule);
    one.consume(0, 3);
    expect(one.chargeMore(1, 2)).toEqual({ givenBack: 0, charged: 2, cut: 0 });
    expect(one.chargeMore(2, 5)).toEqual({ givenBack: 0, charged: 1, cut: 4 });
    expect(one.peek(3, 1)).toMatchObject({ remaining: 0, retryAfterMs: 9_997 });
  });

  it('a limit that is raised or lowered keeps what was used', () => {
    const one = oneLedger({ ...rule, limit: 100 });
    one.consume(0, 60);
    one.rule = { ...rule, limit: 10 };
    expect(one.peek(1, 1)).toMatchObject({ admits: false, remaining: 0 });
    one.rule = { ...rule, limit: 200 };
    expect(one.peek(1, 1).remaining).toBe(140);
  });
});

describe('a fixed window aligned to the first request', () => {
  const first: FixedWindowRule = { ...rule, align: 'first-request' };

  it('starts at the first admitted charge after the last one ended', () => {
    const one = oneLedger(first);
    expect(one.consume(7_000, 1)).toMatchObject({ admits: true, resetAfterMs: 10_000 });
    expect(one.consume(16_999, 3)).toMatchObject({ admits: false, retryAfterMs: 1 });
    expect(one.consume(17_000, 3)).toMatchObject({ admits: true, resetAfterMs: 10_000 });
  });

  it('is not opened by a peek, a refusal or a cost of 0', () => {
    const one = oneLedger(first);
    one.peek(0, 1);
    one.consume(1, 4);
    one.consume(2, 0);
    expect(one.state()).toBeUndefined();
  });

  it('moves to now when the clock steps far back', () => {
    const one = oneLedger(first);
    one.consume(50_000, 2);
    expect(one.consume(30_000, 2)).toMatchObject({ admits: false, retryAfterMs: 10_000 });
    expect(one.consume(40_000, 2).admits).toBe(true);
  });
});
