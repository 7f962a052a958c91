import { describe, expect, it } from 'vitest';
import type { LimiterErrorCode, Store } from '../../src/index.js';
import { createLimiter, fixedWindow, LimiterError, slidingWindowLog, tokenBucket } from '../../src/index.js';
import { thrownBy, turnable } from './turnable.js';

/** Each row: what was done, the code, and the whole message: the value and the rule that it breaks. */
type Row = readonly [what: string, work: () => unknown, code: LimiterErrorCode, message: string];

// What TypeScript refuses is passed as JavaScript would.
const loose = (value: unknown): never => value as never;
const { store } = turnable();
const a = fixedWindow({ limit: 5, window: '1m' });
const make = (options: Record<string, unknown>): unknown =>
  createLimiter(loose({ name: 'x', store, limits: { a }, ...options }));
const whole = 'must be a whole number from 0 to 2^53-1';
const duration = 'must be a positive whole amount with a unit (ms, s, m, h, d), at most 2^42 ms, like "10s" or "5m"';

const construction: readonly Row[] = [
  [
    'a fractional limit',
    () => fixedWindow({ limit: 0.5, window: '1m' }),
    'ERR_LIMITER_NUMBER',
    `limit ${whole} or "unlimited", got 0.5`,
  ],
  [
    'a negative limit',
    () => fixedWindow({ limit: -1, window: '1m' }),
    'ERR_LIMITER_NUMBER',
    `limit ${whole} or "unlimited", got -1`,
  ],
  [
    'NaN',
    () => slidingWindowLog({ limit: Number.NaN, window: '1m' }),
    'ERR_LIMITER_NUMBER',
    `limit ${whole} or "unlimited", got NaN`,
  ],
  [
    'Infinity',
    () => slidingWindowLog({ limit: Infinity, window: '1m' }),
    'ERR_LIMITER_NUMBER',
    `limit ${whole} or "unlimited", got Infinity`,
  ],
  [
    '2^53',
    () => fixedWindow({ limit: 2 ** 53, window: '1m' }),
    'ERR_LIMITER_NUMBER',
    `limit ${whole} or "unlimited", got 9007199254740992`,
  ],
  ['-0', () => fixedWindow({ limit: -0, window: '1m' }), 'ERR_LIMITER_NUMBER', `limit ${whole} or "unlimited", got -0`],
  [
    'a limit as text',
    () => fixedWindow(loose({ limit: '5', window: '1m' })),
    'ERR_LIMITER_NUMBER',
    `limit ${whole} or "unlimited", got "5"`,
  ],
  [
    'a tier with a bad value',
    () => fixedWindow({ limit: { pro: 1.5 }, window: '1m' }),
    'ERR_LIMITER_NUMBER',
    `limit.pro ${whole} or "unlimited", got 1.5`,
  ],
  [
    'a window of nothing',
    () => fixedWindow({ limit: 1, window: '0s' }),
    'ERR_LIMITER_DURATION',
    `window ${duration}, got "0s"`,
  ],
  [
    'half a millisecond',
    () => fixedWindow({ limit: 1, window: '0.5ms' }),
    'ERR_LIMITER_DURATION',
    `window ${duration}, got "0.5ms"`,
  ],
  [
    'a window in seconds without a unit',
    () => fixedWindow(loose({ limit: 1, window: 60 })),
    'ERR_LIMITER_DURATION',
    `window ${duration}, got 60`,
  ],
  [
    'a window of 140 years',
    () => fixedWindow({ limit: 1, window: '51100d' }),
    'ERR_LIMITER_DURATION',
    `window ${duration}, got "51100d"`,
  ],
  [
    'an offset as long as its window',
    () => fixedWindow({ limit: 1, window: '1m', offset: '60s' }),
    'ERR_LIMITER_DURATION',
    'offset must be shorter than the window, got "60s" in 1m',
  ],
  [
    'an offset without a grid',
    () => fixedWindow({ limit: 1, window: '1m', offset: '1s', align: 'first-request' }),
    'ERR_LIMITER_OPTION',
    'offset shifts the grid of align: "clock"; a window aligned to the first request has none',
  ],
  [
    'an unknown alignment',
    () => fixedWindow(loose({ limit: 1, window: '1m', align: 'day' })),
    'ERR_LIMITER_OPTION',
    'align must be "clock" or "first-request", got "day"',
  ],
  [
    'a misspelt option',
    () => fixedWindow(loose({ limit: 1, window: '1m', mdoe: 'shadow' })),
    'ERR_LIMITER_OPTION',
    'fixedWindow() has no option "mdoe"; it has by, mode, ledger, reserve, limit, window, align, offset',
  ],
  [
    'a rate without time',
    () => tokenBucket(loose({ capacity: 1, refill: '5' })),
    'ERR_LIMITER_DURATION',
    'refill must be tokens per time like "120/1m", got "5"',
  ],
  [
    'a refill of nothing',
    () => tokenBucket({ capacity: 1, refill: '0/1m' }),
    'ERR_LIMITER_NUMBER',
    'refill tokens must be a whole number from 1 to 2^53-1, got 0',
  ],
  [
    'a capacity too large for its period',
    () => tokenBucket({ capacity: 2 ** 40, refill: '1/1d' }),
    'ERR_LIMITER_NUMBER',
    'capacity x refill period in ms must be at most 2^53-1, got 1099511627776 x 86400000',
  ],
  [
    'different tiers in capacity and refill',
    () => tokenBucket(loose({ capacity: { free: 1 }, refill: { pro: '1/1s' } })),
    'ERR_LIMITER_TIERS',
    'capacity and refill must have the same tiers, got ["free"] and ["pro"]',
  ],
  [
    'half a per cent',
    () => fixedWindow(loose({ limit: 9, window: '1m', reserve: { low: '12.5%' } })),
    'ERR_LIMITER_NUMBER',
    'reserve.low must be whole units >= 0 or whole per cent from "0%" to "100%", got "12.5%"',
  ],
  [
    'more than all',
    () => fixedWindow({ limit: 9, window: '1m', reserve: { low: '101%' } }),
    'ERR_LIMITER_NUMBER',
    'reserve.low must be whole units >= 0 or whole per cent from "0%" to "100%", got "101%"',
  ],
  [
    'an axis twice',
    () => fixedWindow({ by: ['org', 'org'], limit: 1, window: '1m' }),
    'ERR_LIMITER_NAME',
    'by must name each axis once, got ["org", "org"]',
  ],
  [
    'a name that begins with a digit',
    () => make({ limits: { '1st': a } }),
    'ERR_LIMITER_NAME',
    'a limit must begin with a letter and hold only letters, digits, "_", "." and "-" (at most 64), got "1st"',
  ],
  [
    'no name',
    () => make({ name: '' }),
    'ERR_LIMITER_NAME',
    'name must begin with a letter and hold only letters, digits, "_", "." and "-" (at most 64), got ""',
  ],
  [
    'no limits',
    () => make({ limits: {} }),
    'ERR_LIMITER_LIMITS',
    'limits must be a record of at least one limit, got {  }',
  ],
  [
    'a limit that is only an object',
    () => make({ limits: { a: { limit: 5 } } }),
    'ERR_LIMITER_LIMITS',
    'limits.a must be made by fixedWindow(), slidingWindowLog() or tokenBucket(), got { limit }',
  ],
  [
    'the same ledger twice',
    () =>
      make({
        limits: {
          a: fixedWindow({ limit: 1, window: '1m', ledger: 'l' }),
          b: fixedWindow({ limit: 1, window: '1h', ledger: 'l' }),
        },
      }),
    'ERR_LIMITER_DUPLICATE_LEDGER',
    'ledger must differ between the limits of one limiter, got "l" twice',
  ],
  [
    'limits without a tier in common',
    () =>
      make({
        limits: {
          a: fixedWindow({ limit: { x: 1 }, window: '1m' }),
          b: fixedWindow({ limit: { y: 1 }, window: '1m' }),
        },
      }),
    'ERR_LIMITER_TIERS',
    'limits with tiers must have a tier in common, got ["a", "b"] without one',
  ],
  [
    'no store',
    () => make({ store: undefined }),
    'ERR_LIMITER_STORE',
    'store must have run() and traits, like memoryStore(), got undefined',
  ],
  [
    'an unknown word for failure',
    () => make({ onStoreFailure: 'alow' }),
    'ERR_LIMITER_FAILURE_POLICY',
    'onStoreFailure must be "allow", "deny", "throw" or "fallback" (nobody gets a default by silence), got "alow"',
  ],
  [
    'a fallback that is not there',
    () => make({ onStoreFailure: 'fallback' }),
    'ERR_LIMITER_FAILURE_POLICY',
    'onStoreFailure "fallback" needs the option fallback: { store, share }, got none',
  ],
  [
    'a hash tag that is no axis',
    () => make({ hashTag: 'org' }),
    'ERR_LIMITER_OPTION',
    'hashTag must be an axis of the limits (subject), got "org"',
  ],
];

const one = createLimiter({
  name: 'one',
  store,
  limits: { a, b: fixedWindow({ limit: 5, window: '1m', mode: 'shadow' }) },
});
const two = createLimiter({
  name: 'two',
  store,
  limits: { a: fixedWindow({ by: ['org', 'route'], limit: { free: 5 }, window: '1m' }) },
});
const calls: readonly Row[] = [
  ['NaN as a cost', () => one.consumeSync('s', { cost: Number.NaN }), 'ERR_LIMITER_COST', `cost ${whole}, got NaN`],
  ['a negative cost', () => one.consumeSync('s', { cost: -100 }), 'ERR_LIMITER_COST', `cost ${whole}, got -100`],
  ['half a cost', () => one.consumeSync('s', { cost: 0.5 }), 'ERR_LIMITER_COST', `cost ${whole}, got 0.5`],
  ['a cost as text', () => one.consumeSync('s', { cost: loose('5') }), 'ERR_LIMITER_COST', `cost ${whole}, got "5"`],
  ['null as a cost', () => one.consumeSync('s', { cost: loose(null) }), 'ERR_LIMITER_COST', `cost ${whole}, got null`],
  [
    'a cost record with a name missing',
    () => one.consumeSync('s', { cost: loose({ a: 1 }) }),
    'ERR_LIMITER_COST',
    `cost.b ${whole}, got undefined`,
  ],
  [
    'a cost for no limit',
    () => one.consumeSync('s', { cost: loose({ a: 1, b: 1, c: 1 }) }),
    'ERR_LIMITER_UNKNOWN_LIMIT',
    'cost must name limits of this limiter (a, b), got "c"',
  ],
  [
    'a number for no limit',
    () => one.consumeSync('s', { limits: loose({ c: 1 }) }),
    'ERR_LIMITER_UNKNOWN_LIMIT',
    'limits must name limits of this limiter (a, b), got "c"',
  ],
  [
    'an own number that is none',
    () => one.consumeSync('s', { limits: { a: 0.1 } }),
    'ERR_LIMITER_NUMBER',
    `limits.a ${whole} or "unlimited", got 0.1`,
  ],
  [
    'a record for a plain subject',
    () => one.consumeSync(loose({ org: 'o' })),
    'ERR_LIMITER_SUBJECT',
    'subject must be a string, got { org }',
  ],
  [
    'undefined as a subject',
    () => one.consumeSync(loose(undefined)),
    'ERR_LIMITER_SUBJECT',
    'subject must be a string, got undefined',
  ],
  [
    'text for a record of axes',
    () => two.consumeSync(loose('o'), { tier: 'free' }),
    'ERR_LIMITER_SUBJECT',
    'subject must be a record of the axes org, route, got "o"',
  ],
  [
    'a missing axis',
    () => two.consumeSync(loose({ org: 'o', rout: '/' }), { tier: 'free' }),
    'ERR_LIMITER_SUBJECT',
    'subject.route must be a string, or null where it does not apply, got undefined',
  ],
  [
    'a number as an axis value',
    () => two.consumeSync(loose({ org: 7, route: '/' }), { tier: 'free' }),
    'ERR_LIMITER_SUBJECT',
    'subject.org must be a string, or null where it does not apply, got 7',
  ],
  [
    'a missing tier',
    () => two.consumeSync({ org: 'o', route: '/' }, loose({})),
    'ERR_LIMITER_TIER',
    'tier must be one of free, got undefined',
  ],
  [
    'a tier where there are none',
    () => one.consumeSync('s', loose({ tier: 'pro' })),
    'ERR_LIMITER_TIER',
    'tier must be left out where no limit has tiers, got "pro"',
  ],
  [
    'an unknown priority',
    () => one.consumeSync('s', { priority: loose('low') }),
    'ERR_LIMITER_PRIORITY',
    'priority must be one of normal, got "low"',
  ],
  [
    'a misspelt option',
    () => one.consumeSync('s', loose({ csot: 5 })),
    'ERR_LIMITER_OPTION',
    'a call has no option "csot"; it has cost, tier, priority, limits, onStoreFailure',
  ],
  [
    'a cost for inspect',
    () => one.inspectSync('s', loose({ cost: 5 })),
    'ERR_LIMITER_OPTION',
    'a call has no option "cost"; it has tier, priority, limits, onStoreFailure',
  ],
  [
    'a fallback for one call that was not configured',
    () => one.consumeSync('s', { onStoreFailure: loose('fallback') }),
    'ERR_LIMITER_FAILURE_POLICY',
    'onStoreFailure "fallback" needs the option fallback: { store, share }, got none',
  ],
  [
    'no actual cost to settle',
    () => one.settleSync(one.consumeSync('s', { cost: 0 }).receipt as string, loose(undefined)),
    'ERR_LIMITER_COST',
    'actual must be a whole number from 0 to 2^53-1 or a record of them, got undefined',
  ],
  [
    'an unknown once',
    () => one.refundSync(one.consumeSync('s', { cost: 0 }).receipt as string, 1, { once: loose('ever') }),
    'ERR_LIMITER_OPTION',
    'once must be "process" or "everywhere", got "ever"',
  ],
  [
    'an unknown limit in reset',
    () => one.resetSync('s', { limits: loose(['c']) }),
    'ERR_LIMITER_UNKNOWN_LIMIT',
    'limits must name limits of this limiter (a, b), got "c"',
  ],
];

describe('a mistake is found at construction and names the value and the rule', () => {
  it.each(construction)('%s', (_what, work, code, message) => {
    expect(thrownBy(work)).toMatchObject({ name: 'LimiterError', code, message });
  });
});

describe('a mistake in a call charges nothing', () => {
  it.each(calls)('%s', (_what, work, code, message) => {
    expect(thrownBy(work)).toMatchObject({ name: 'LimiterError', code, message });
    expect(one.inspectSync('s').limits.a.remaining).toBe(5);
  });

  it('is a rejection from the asynchronous forms, never a throw', async () => {
    await expect(one.consume('s', { cost: -1 })).rejects.toBeInstanceOf(LimiterError);
    await expect(one.refund('nonsense')).rejects.toMatchObject({ code: 'ERR_LIMITER_RECEIPT' });
  });
});

describe('a limiter asks of a store only what it can do', () => {
  it('an algorithm that the store does not know is refused at construction', () => {
    const traits = { ...store.traits, algorithms: ['token-bucket'] };
    const work = (): unknown => make({ store: { ...store, traits } });
    expect(thrownBy(work).message).toBe('store must know the algorithm fixed-window, got one that knows token-bucket');
  });

  it('the ...Sync forms are refused on an asynchronous store, and so is silence about its failures', () => {
    const remote: Store = {
      traits: { ...store.traits, sync: false, fails: 'possible' },
      run: (steps) => store.run(steps),
    };
    expect(thrownBy(() => createLimiter(loose({ name: 'r', store: remote, limits: { a } }))).code).toBe(
      'ERR_LIMITER_FAILURE_POLICY',
    );
    const limiter = createLimiter({ name: 'r', store: remote, limits: { a }, onStoreFailure: 'deny' });
    expect(thrownBy(() => (limiter as unknown as typeof one).consumeSync('s')).code).toBe(
      'ERR_LIMITER_STORE_UNSUITABLE',
    );
  });

  it('after close() it refuses to be used, and the store stays open', async () => {
    const limiter = createLimiter({ name: 'closing', store, limits: { a } });
    await limiter.close();
    expect(thrownBy(() => limiter.consumeSync('s')).code).toBe('ERR_LIMITER_CLOSED');
    expect(one.inspectSync('s').allowed).toBe(true);
  });

  it('divides every limit among the instances that share it, rounded down, and refuses to make one 0', async () => {
    const { memoryStore } = await import('@limiter/memory');
    const third = memoryStore({ instances: 3 });
    const limiter = createLimiter({
      name: 'third',
      store: third,
      limits: { a: fixedWindow({ limit: 10, window: '1m' }) },
    });
    expect(limiter.consumeSync('s').limits.a).toMatchObject({ limit: 3, remaining: 2 });
    const error = thrownBy(() =>
      createLimiter({ name: 'none', store: third, limits: { a: fixedWindow({ limit: 2, window: '1m' }) } }),
    );
    expect(error).toMatchObject({
      code: 'ERR_LIMITER_NUMBER',
      message: 'limits.a must be at least 1 for each of 3 instances, got 2 in all',
    });
  });
});
