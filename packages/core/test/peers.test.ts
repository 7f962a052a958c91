/** What other limiters were seen to do, and the right answer of this one: on the memory store, through a limiter. */
import {
  createLimiter,
  type Duration,
  fixedWindow,
  type Limit,
  type SyncLimiter,
  slidingWindowLog,
  tokenBucket,
} from '@limiter/core';
import { type MemoryStoreOptions, memoryStore } from '@limiter/memory';
import { beforeEach, describe, expect, it } from 'vitest';

const T0 = Date.UTC(2030, 0, 1);
let now = T0;
beforeEach(() => {
  now = T0;
});

const clocked = (options: MemoryStoreOptions = {}): ReturnType<typeof memoryStore> =>
  memoryStore({ clock: () => now, ...options });
const make = <const L extends Record<string, Limit<'subject', never, never>>>(limits: L, store = clocked()) =>
  createLimiter({ name: 'api', store, limits });
const one = (limit: Limit<'subject', never, never>, store = clocked()) => make({ a: limit }, store);
const left = (limiter: { inspectSync: SyncLimiter['inspectSync'] }, key: string): number | undefined =>
  limiter.inspectSync(key).limits.a?.remaining;

/** Ten for a minute (a bucket: refilled in one), of each algorithm. */
const tens = {
  'fixed window': fixedWindow({ limit: 10, window: '1m' }),
  'fixed window from the first request': fixedWindow({ limit: 10, window: '1m', align: 'first-request' }),
  'sliding window log': slidingWindowLog({ limit: 10, window: '1m' }),
  'token bucket': tokenBucket({ capacity: 10, refill: '10/1m' }),
};

describe.each(Object.entries(tens))('charging: %s', (_name, ten) => {
  it('with 8 of 10 used, 5 is refused, charges nothing, and 2 is then admitted', () => {
    const limiter = one(ten);
    limiter.consumeSync('u', { cost: 8 });
    expect(limiter.consumeSync('u', { cost: 5 }).allowed).toBe(false);
    expect(left(limiter, 'u')).toBe(2);
    expect(limiter.consumeSync('u', { cost: 2 }).allowed).toBe(true);
  });

  it('1 admitted and 3 refused cost both axes of a pair 1', () => {
    const limiter = make({ a: ten, b: fixedWindow({ limit: 1, window: '1h' }) });
    const allowed = [1, 2, 3, 4].map(() => limiter.consumeSync('u').allowed);
    expect(allowed).toEqual([true, false, false, false]);
    const { a, b } = limiter.inspectSync('u').limits;
    expect([a.remaining, b.remaining]).toEqual([9, 0]);
  });

  it('a denial is never outvoted by the longer wait of a limit that admits', () => {
    const limiter = make({ a: ten, week: fixedWindow({ limit: 1_000, window: '7d' }) });
    limiter.consumeSync('u', { cost: 10 });
    const denied = limiter.consumeSync('u');
    expect([denied.allowed, denied.tightest?.name]).toEqual([false, 'a']);
    expect(denied.retryAfterMs).toBe(denied.limits.a.retryAfterMs);
  });

  it('a client that polls every second gets in as soon as one that waits', () => {
    const limiter = one(ten);
    limiter.consumeSync('u', { cost: 10 });
    const { retryAfterMs } = limiter.peekSync('u', { cost: 5 });
    for (; now + 1_000 < T0 + retryAfterMs; now += 1_000)
      expect(limiter.consumeSync('u', { cost: 5 }).allowed).toBe(false);
    now = T0 + retryAfterMs;
    expect(limiter.consumeSync('u', { cost: 5 }).allowed).toBe(true);
  });

  it('a cost above the limit is denied for good: cost-above-limit, retryAfterMs Infinity, nothing charged', () => {
    const limiter = one(ten);
    const { allowed, reason, retryAfterMs } = limiter.consumeSync('u', { cost: 11 });
    expect([allowed, reason, retryAfterMs]).toEqual([false, 'cost-above-limit', Number.POSITIVE_INFINITY]);
    expect(left(limiter, 'u')).toBe(10);
  });

  it.each([[Number.NaN], [-100], [0.5], ['5'], [Number.POSITIVE_INFINITY], [2 ** 53]])(
    'a cost of %s is an error with a code, and neither disables nor credits the key',
    (cost) => {
      const limiter = one(ten);
      limiter.consumeSync('u', { cost: 4 });
      expect(() => limiter.consumeSync('u', { cost: cost as number })).toThrow(
        expect.objectContaining({ code: 'ERR_LIMITER_COST' }),
      );
      expect(left(limiter, 'u')).toBe(6);
    },
  );

  it('a refund gives back at most what was charged, and nothing once the charge has expired', () => {
    const limiter = one(ten);
    limiter.consumeSync('u', { cost: 4 });
    const { receipt = '' } = limiter.consumeSync('u', { cost: 3 });
    expect(limiter.refundSync(receipt, 50).limits.a?.givenBack).toBe(3);
    expect(left(limiter, 'u')).toBe(6);
    const late = limiter.consumeSync('u', { cost: 3 }).receipt ?? '';
    now += 120_000;
    expect(limiter.refundSync(late).limits.a?.givenBack).toBe(0);
    expect(left(limiter, 'u')).toBe(10);
  });

  it('a peek has the numbers of the consume after it, of a key that is new, used or exhausted', () => {
    const limiter = one(ten);
    for (const cost of [6, 6, 4, 1]) {
      const peek = limiter.peekSync('u', { cost });
      const { allowed, reason, retryAfterMs } = limiter.consumeSync('u', { cost });
      expect(peek).toMatchObject({ allowed, reason, retryAfterMs });
      expect(peek.limits.a.allowed).toBe(cost <= peek.limits.a.remaining);
    }
  });

  it('fifteen requests at once on limit 10 are admitted ten times', async () => {
    const limiter = one(ten);
    const decisions = await Promise.all(Array.from({ length: 15 }, () => limiter.consume('u')));
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(10);
    expect(decisions[0]?.limits.a.remaining).toBe(9);
  });

  it('a retry at the told moment is admitted, one ms earlier it is not', () => {
    const limiter = one(ten);
    now += 12_345;
    limiter.consumeSync('u', { cost: 7 });
    now += 1_111;
    const { retryAfterMs } = limiter.consumeSync('u', { cost: 6 });
    now += retryAfterMs - 1;
    expect(limiter.consumeSync('u', { cost: 6 }).allowed).toBe(false);
    now += 1;
    expect(limiter.consumeSync('u', { cost: 6 }).allowed).toBe(true);
  });

  it('a clock that is set back an hour locks nobody out for an hour, and gives one extra budget at most', () => {
    const limiter = one(ten);
    limiter.consumeSync('u', { cost: 10 });
    now -= 3_600_000;
    const { allowed, retryAfterMs } = limiter.consumeSync('u');
    expect(allowed).toBe(false);
    expect(retryAfterMs).toBeLessThanOrEqual(60_000);
    now += retryAfterMs;
    expect(limiter.consumeSync('u').allowed).toBe(true);
    expect(limiter.consumeSync('u', { cost: 10 }).allowed).toBe(false);
  });

  it('limiters of two names on one store share nothing', () => {
    const store = clocked();
    const [login, search] = ['login', 'search'].map((name) => createLimiter({ name, store, limits: { a: ten } }));
    login?.consumeSync('u', { cost: 10 });
    expect(search?.inspectSync('u').limits.a.remaining).toBe(10);
  });

  it("a reset of 'user' leaves 'user:admin' and '*' alone, and one of '*' resets only '*'", () => {
    const limiter = one(ten);
    const keys = ['user', 'user:admin', '*'];
    for (const key of keys) limiter.consumeSync(key, { cost: 10 });
    limiter.resetSync('user');
    expect(keys.map((key) => left(limiter, key))).toEqual([10, 0, 0]);
    limiter.resetSync('*');
    expect(keys.map((key) => left(limiter, key))).toEqual([10, 0, 10]);
  });
});

describe('time', () => {
  it('"3 per minute" admits a fourth within the minute as a bucket, and never as a log', () => {
    const bucket = one(tokenBucket({ capacity: 3, refill: '3/1m' }));
    const log = one(slidingWindowLog({ limit: 3, window: '1m' }));
    for (const limiter of [bucket, log]) limiter.consumeSync('u', { cost: 3 });
    now += 20_000;
    expect([bucket, log].map((limiter) => limiter.consumeSync('u').allowed)).toEqual([true, false]);
    now += 39_999;
    expect(log.consumeSync('u').allowed).toBe(false);
    now += 1;
    expect(log.consumeSync('u').allowed).toBe(true);
  });

  it('300 bursts, each when the bucket is told to be full, are all admitted in full: no token is lost to rounding', () => {
    const limiter = one(tokenBucket({ capacity: 7, refill: '7/997ms' }));
    for (let burst = 0; burst < 300; burst += 1) {
      const { allowed, limits } = limiter.consumeSync('u', { cost: 7 });
      expect(allowed).toBe(true);
      expect(limits.a.resetAfterMs).toBe(997);
      now += 997;
    }
  });

  it('a request at the very instant at which a window ends opens a new one, with nothing used', () => {
    const limiter = one(fixedWindow({ limit: 10, window: '1m', align: 'first-request' }));
    now += 777;
    limiter.consumeSync('u', { cost: 10 });
    now += 60_000;
    const { allowed, limits } = limiter.consumeSync('u');
    expect([allowed, limits.a.remaining, limits.a.resetAfterMs]).toEqual([true, 9, 60_000]);
  });

  it.each<Duration>(['25d', '30d', '49d', '365d'])('a window of %s is enforced to its last ms', (window) => {
    const limiter = one(fixedWindow({ limit: 1, window, align: 'first-request' }));
    limiter.consumeSync('u');
    const { retryAfterMs } = limiter.consumeSync('u');
    expect(retryAfterMs).toBe(Number.parseInt(window, 10) * 86_400_000);
    now += retryAfterMs - 1;
    expect(limiter.consumeSync('u').allowed).toBe(false);
    now += 1;
    expect(limiter.consumeSync('u').allowed).toBe(true);
  });

  it.each([['0.5s'], ['1 minute'], ['60'], ['0s'], ['1e3ms']])(
    'a window of %j is refused at construction',
    (window) => {
      expect(() => fixedWindow({ limit: 1, window: window as Duration })).toThrow(
        expect.objectContaining({ code: 'ERR_LIMITER_DURATION' }),
      );
    },
  );
});

describe('identity', () => {
  it('a flood of new keys neither frees a blocked key nor locks the new ones out', () => {
    const store = clocked({ max: 100 });
    const limiter = one(fixedWindow({ limit: 2, window: '1h' }), store);
    limiter.consumeSync('attacker', { cost: 2 });
    for (let i = 0; i < 1_000; i += 1) expect(limiter.consumeSync(`key${i}`).allowed).toBe(true);
    expect(limiter.consumeSync('attacker').allowed).toBe(false);
    expect(store.stats()).toMatchObject({ size: 100, evictedLive: 901, evictedExhausted: 0 });
  });

  it('a limit may differ from request to request, and what was used is kept', () => {
    const limiter = one(fixedWindow({ limit: 100, window: '1h' }));
    limiter.consumeSync('u', { cost: 60 });
    const as = (amount: number) => limiter.peekSync('u', { limits: { a: amount } }).limits.a.remaining;
    expect([as(10), as(200), left(limiter, 'u')]).toEqual([0, 140, 40]);
  });
});
