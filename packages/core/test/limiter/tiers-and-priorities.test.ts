import { describe, expect, it } from 'vitest';
import { createLimiter, fixedWindow, slidingWindowLog, tokenBucket } from '../../src/index.js';
import { thrownBy, turnable } from './turnable.js';

describe('tiers', () => {
  function tiered() {
    const time = turnable();
    const limiter = createLimiter({
      name: 'tiered',
      store: time.store,
      limits: {
        burst: tokenBucket({
          capacity: { free: 2, pro: 20, internal: 'unlimited' },
          refill: { free: '2/1s', pro: '20/1s', internal: '1/1s' },
        }),
        day: fixedWindow({ limit: { free: 10, pro: 100, internal: 'unlimited' }, window: '1d' }),
      },
    });
    return { time, limiter };
  }

  it('are data: each has its own numbers, and usage is kept when a customer changes plan', () => {
    const { limiter } = tiered();
    expect(limiter.consumeSync('x', { tier: 'pro', cost: 15 })).toMatchObject({ allowed: true, tier: 'pro' });
    const free = limiter.peekSync('x', { tier: 'free' });
    expect(free).toMatchObject({
      allowed: false,
      limits: { burst: { limit: 2, remaining: 0 }, day: { limit: 10, remaining: 0 } },
    });
    expect(limiter.peekSync('x', { tier: 'pro' }).limits.day.remaining, 'flipping between plans farms nothing').toBe(
      85,
    );
  });

  it('an unlimited tier is not asked, is reported as such and charges nothing', () => {
    const { limiter } = tiered();
    const decision = limiter.consumeSync('x', { tier: 'internal', cost: 1_000_000 });
    expect(decision.limits.day).toMatchObject({
      limit: 'unlimited',
      remaining: Infinity,
      retryAfterMs: 0,
      charged: 0,
      skipped: false,
      key: 'x',
    });
    expect(limiter.inspectSync('x', { tier: 'pro' }).limits.day.remaining).toBe(100);
  });

  it('one customer can have numbers of their own; the refill stays', () => {
    const { time, limiter } = tiered();
    expect(limiter.consumeSync('x', { tier: 'free', cost: 50, limits: { burst: 50, day: 12_000 } }).allowed).toBe(true);
    time.now += 1_000;
    expect(limiter.peekSync('x', { tier: 'free', limits: { burst: 50 } }).limits.burst.remaining).toBe(2);
    expect(
      limiter.consumeSync('x', { tier: 'free', cost: 60, limits: { burst: 'unlimited', day: 'unlimited' } }).allowed,
    ).toBe(true);
    expect(limiter.consumeSync('y', { tier: 'internal', cost: 3, limits: { day: 2 } }).reason).toBe('cost-above-limit');
  });

  it('refill over different periods is refused: changing plans would start a new ledger', () => {
    const error = thrownBy(() => tokenBucket({ capacity: 5, refill: { free: '1/1s', pro: '100/1m' } }));
    expect(error).toMatchObject({ code: 'ERR_LIMITER_TIERS' });
    expect(error.message).toBe(
      'refill must have the same period in every tier (usage is kept when a customer changes tier), got ["1/1s", "100/1m"]',
    );
  });
});

describe('priorities', () => {
  function shedding() {
    const time = turnable();
    const limits = {
      calls: slidingWindowLog({ limit: 10, window: '1m', reserve: { low: '33%', normal: 1 } }),
      total: fixedWindow({ by: '*', limit: 100, window: '1m' }),
    };
    return { time, limiter: createLimiter({ name: 'shedding', store: time.store, limits }) };
  }

  it('reports are shed before uploads: what is held back is rounded up', () => {
    const { limiter } = shedding();
    const low = limiter.consumeSync('x', { priority: 'low', cost: 6 });
    expect(low.limits.calls).toMatchObject({ allowed: true, heldBack: 4, remaining: 0, charged: 6 });
    expect(limiter.consumeSync('x', { priority: 'low' })).toMatchObject({
      allowed: false,
      reason: 'held-back',
      retryAfterMs: 60_000,
    });
    expect(limiter.consumeSync('x', { cost: 3 }), 'none given is normal').toMatchObject({
      allowed: true,
      limits: { calls: { heldBack: 1 } },
    });
  });

  it('a cost that only the reserve makes too large is held back, never for ever above the limit', () => {
    const { limiter } = shedding();
    expect(limiter.peekSync('x', { priority: 'low', cost: 8 })).toMatchObject({
      reason: 'held-back',
      retryAfterMs: Infinity,
    });
    expect(limiter.peekSync('x', { priority: 'low', cost: 11 })).toMatchObject({
      reason: 'cost-above-limit',
      retryAfterMs: Infinity,
    });
  });

  it('a reserve of 100 % admits nothing but cost 0, and of 0 % holds nothing back', () => {
    const { store } = turnable();
    const limits = { a: fixedWindow({ limit: 7, window: '1m', reserve: { none: '100%', all: '0%' } }) };
    const limiter = createLimiter({ name: 'edges', store, limits });
    expect(limiter.peekSync('x', { priority: 'none' })).toMatchObject({
      allowed: false,
      limits: { a: { heldBack: 7, remaining: 0, moreAfterMs: 0 } },
    });
    expect(limiter.peekSync('x', { priority: 'all', cost: 7 }).allowed).toBe(true);
  });

  it('per cent of a limit near 2^53 are counted without losing a unit', () => {
    const { store } = turnable();
    const limits = { a: fixedWindow({ limit: Number.MAX_SAFE_INTEGER, window: '1m', reserve: { low: '37%' } }) };
    const decision = createLimiter({ name: 'large', store, limits }).peekSync('x', { priority: 'low' });
    expect(BigInt(decision.limits.a.heldBack)).toBe((BigInt(Number.MAX_SAFE_INTEGER) * 37n + 99n) / 100n);
  });
});

describe('shadow', () => {
  it('a limit in shadow is asked and charged, never refuses, and says what it would have done', () => {
    const { store } = turnable();
    const limits = {
      a: fixedWindow({ limit: 5, window: '1m' }),
      b: fixedWindow({ limit: 2, window: '1m', mode: 'shadow' }),
    };
    const limiter = createLimiter({ name: 'shadow', store, limits });
    expect(limiter.consumeSync('x', { cost: 2 })).toMatchObject({
      allowed: true,
      wouldBe: true,
      limits: { b: { charged: 2, remaining: 0 } },
    });
    const second = limiter.consumeSync('x', { cost: 2 });
    expect(second).toMatchObject({
      allowed: true,
      wouldBe: false,
      reason: 'admitted',
      retryAfterMs: 0,
      tightest: { name: 'a' },
    });
    expect(second.limits.b, 'what it would refuse it does not charge').toMatchObject({
      allowed: false,
      charged: 0,
      retryAfterMs: 40_000,
      mode: 'shadow',
    });
    const refused = limiter.consumeSync('x', { cost: 2 });
    expect(refused, 'a refusal of an enforced limit charges no limit').toMatchObject({
      allowed: false,
      limits: { b: { charged: 0 } },
    });
  });

  it('a limiter in shadow decides and charges as ever; only allowed is true', () => {
    const { store } = turnable();
    const limits = { a: fixedWindow({ limit: 1, window: '1m' }) };
    const limiter = createLimiter({ name: 'all-shadow', store, limits, mode: 'shadow' });
    expect(limiter.consumeSync('x')).toMatchObject({ allowed: true, wouldBe: true, limits: { a: { charged: 1 } } });
    expect(limiter.consumeSync('x')).toMatchObject({
      allowed: true,
      wouldBe: false,
      reason: 'over-limit',
      retryAfterMs: 40_000,
      receipt: undefined,
      limits: { a: { allowed: false, charged: 0 } },
    });
  });
});
