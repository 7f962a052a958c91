import { describe, expect, it, vi } from 'vitest';
import { createLimiter, fixedWindow, slidingWindowLog, tokenBucket } from '../../src/index.js';
import { thrownBy, turnable } from './turnable.js';

function jobs(time = turnable(), create = createLimiter) {
  const limits = {
    bucket: tokenBucket({ capacity: 100, refill: '1/1s' }),
    log: slidingWindowLog({ limit: 100, window: '1m' }),
    seen: fixedWindow({ limit: 1_000, window: '1h' }),
  };
  return { time, limiter: create({ name: 'jobs', store: time.store, limits }) };
}
const receiptOf = (decision: { readonly receipt: string | undefined }): string => decision.receipt as string;

describe('refund', () => {
  it('gives back what was charged, in every limit that was', () => {
    const { limiter } = jobs();
    const receipt = receiptOf(limiter.consumeSync('x', { cost: 40 }));
    const gave = { givenBack: 40, charged: 0, cut: 0 };
    expect(limiter.refundSync(receipt)).toEqual({
      closed: false,
      failure: undefined,
      limits: { bucket: gave, log: gave, seen: gave },
    });
    expect(limiter.inspectSync('x').limits).toMatchObject({
      bucket: { remaining: 100 },
      log: { remaining: 100 },
      seen: { remaining: 1_000 },
    });
  });

  it('in a record, a limit that is not named is left alone', () => {
    const { limiter } = jobs();
    const receipt = receiptOf(limiter.consumeSync('x', { cost: 40 }));
    expect(limiter.refundSync(receipt, { log: 10 }).limits).toEqual({ log: { givenBack: 10, charged: 0, cut: 0 } });
    expect(limiter.inspectSync('x').limits).toMatchObject({
      bucket: { remaining: 60 },
      log: { remaining: 70 },
      seen: { remaining: 960 },
    });
  });

  it('closes the receipt, whatever it gave back; a later use does nothing and says so', () => {
    const { limiter } = jobs();
    const receipt = receiptOf(limiter.consumeSync('x', { cost: 40 }));
    limiter.refundSync(receipt, 0);
    expect(limiter.refundSync(receipt)).toEqual({ closed: true, failure: undefined, limits: {} });
    expect(limiter.settleSync(receipt, 1).closed).toBe(true);
    expect(limiter.inspectSync('x').limits.log.remaining).toBe(60);
  });

  it('with once: everywhere a second process cannot use it either', async () => {
    const time = turnable();
    const one = jobs(time).limiter;
    // Another process remembers none of the receipts that this one has used; only the store is shared.
    vi.resetModules();
    const elsewhere = await import('../../src/index.js');
    const two = jobs(time, elsewhere.createLimiter).limiter;
    const other = receiptOf(one.consumeSync('y', { cost: 40 }));
    expect([one.refundSync(other, 1).closed, two.refundSync(other, 1).closed]).toEqual([false, false]);
    const receipt = receiptOf(one.consumeSync('x', { cost: 40 }));
    expect(one.refundSync(receipt, undefined, { once: 'everywhere' }).closed).toBe(false);
    expect(two.refundSync(receipt, undefined, { once: 'everywhere' })).toMatchObject({ closed: true, limits: {} });
    expect(two.inspectSync('x').limits.log.remaining).toBe(100);
  });

  it('works from another limiter object of the same name, as in another process', () => {
    const time = turnable();
    const receipt = receiptOf(jobs(time).limiter.consumeSync('x', { cost: 5 }));
    expect(jobs(time).limiter.refundSync(receipt).limits).toMatchObject({ log: { givenBack: 5 } });
  });

  it('without a receipt does nothing', () => {
    const { limiter } = jobs();
    expect(limiter.refundSync(undefined as unknown as string)).toEqual({
      closed: false,
      failure: undefined,
      limits: {},
    });
  });

  it('a receipt survives keys of any kind', () => {
    const { limiter } = jobs();
    for (const subject of ['', '"quoted\\"', '\ud800', 'a\u0000b', '__proto__', 'x'.repeat(10_000), 'ü€😀']) {
      const receipt = receiptOf(limiter.consumeSync(subject, { cost: 7 }));
      expect(limiter.refundSync(JSON.parse(JSON.stringify(receipt))).limits).toMatchObject({ log: { givenBack: 7 } });
      expect(limiter.inspectSync(subject).limits.log.remaining).toBe(100);
    }
  });

  it('each of thousands of receipts names its own charges and no other', () => {
    const time = turnable();
    const limits = {
      bucket: tokenBucket({ by: 'a', capacity: 1_000_000, refill: '1/1h' }),
      log: slidingWindowLog({ by: ['a', 'b'], limit: 1_000_000, window: '1d' }),
      window: fixedWindow({ by: 'b', limit: 1_000_000, window: '1d', offset: '1h' }),
    };
    const limiter = createLimiter({ name: 'many', store: time.store, limits });
    const ids = new Set<unknown>();
    const made = Array.from({ length: 3_500 }, (_, i) => {
      if (i % 3 === 0) time.now += i % 7;
      const subject = { a: `a${i % 5}`, b: i % 11 === 0 ? null : `"b${i % 2}` };
      const cost = (i % 4) * 100 + 1;
      return { cost, subject, receipt: receiptOf(limiter.consumeSync(subject, { cost })) };
    });
    for (const { cost, subject, receipt } of made) {
      const [, , id, by, ...entries] = JSON.parse(receipt);
      ids.add(id);
      const charged = [
        ['bucket', [subject.a]],
        ['log', [subject.a, subject.b]],
        ['window', [subject.b]],
      ] as const;
      const expected = charged.filter(([, values]) => values.every((value) => value !== null));
      expect([by, ...entries.map((entry: unknown[]) => [entry[0], entry[6], entry[8]])]).toEqual([
        '',
        ...expected.map(([limit, values]) => [limit, values, cost]),
      ]);
      const { bucket, ...rest } = limiter.refundSync(receipt).limits;
      const all = { givenBack: cost, charged: 0, cut: 0 };
      expect(rest).toEqual(Object.fromEntries(expected.slice(1).map(([limit]) => [limit, all])));
      // A bucket has had a fraction of a unit back by itself.
      expect(bucket?.givenBack).toBeGreaterThanOrEqual(cost - 1);
    }
    expect(ids.size).toBe(made.length);
    expect(limiter.inspectSync({ a: 'a1', b: '"b1' }).limits).toMatchObject({
      bucket: { remaining: 1_000_000 },
      log: { remaining: 1_000_000 },
      window: { remaining: 1_000_000 },
    });
  });

  it('refuses what is no receipt, and the receipt of another limiter', () => {
    const { time, limiter } = jobs();
    for (const text of [
      '',
      '[]',
      'null',
      '[1,"jobs"]',
      '[1,"jobs","x","",[]]',
      '[1,"jobs","x","",["a","jobs/a","f",-1,5,0,["x"],null,1]]',
    ]) {
      expect(thrownBy(() => limiter.refundSync(text)).code, text).toBe('ERR_LIMITER_RECEIPT');
    }
    const limits = { a: fixedWindow({ limit: 5, window: '1m' }) };
    const other = createLimiter({ name: 'other', store: time.store, limits }).consumeSync('x');
    expect(thrownBy(() => limiter.refundSync(receiptOf(other))).message).toBe(
      'receipt must be one of the limiter "jobs", got one of "other"',
    );
  });
});

describe('settle', () => {
  it('gives back the difference to a smaller actual cost', () => {
    const { limiter } = jobs();
    const receipt = receiptOf(limiter.consumeSync('x', { cost: 40 }));
    expect(limiter.settleSync(receipt, 25).limits.log).toEqual({ givenBack: 15, charged: 0, cut: 0 });
    expect(limiter.inspectSync('x').limits).toMatchObject({
      bucket: { remaining: 75 },
      log: { remaining: 75 },
      seen: { remaining: 975 },
    });
  });

  it('charges the difference to a larger one at the moment of settling, refused by nothing, cut at twice the limit', () => {
    const { limiter } = jobs();
    const receipt = receiptOf(limiter.consumeSync('x', { cost: 100 }));
    expect(limiter.settleSync(receipt, 350).limits).toEqual({
      bucket: { givenBack: 0, charged: 100, cut: 150 },
      log: { givenBack: 0, charged: 100, cut: 150 },
      seen: { givenBack: 0, charged: 250, cut: 0 },
    });
    expect(limiter.inspectSync('x').limits).toMatchObject({ log: { remaining: 0 }, seen: { remaining: 650 } });
  });

  it('a limit that was asked at cost 0 can be settled up; one that was skipped or refused in shadow is not touched', () => {
    const { store } = turnable();
    const limits = {
      a: fixedWindow({ by: 'a', limit: 9, window: '1m' }),
      b: fixedWindow({ by: 'b', limit: 9, window: '1m' }),
      c: fixedWindow({ by: 'a', limit: 1, window: '1m', mode: 'shadow' }),
    };
    const limiter = createLimiter({ name: 'mixed', store, limits });
    const receipt = receiptOf(limiter.consumeSync({ a: 'x', b: null }, { cost: { a: 0, b: 2, c: 2 } }));
    expect(limiter.settleSync(receipt, 5).limits).toEqual({ a: { givenBack: 0, charged: 5, cut: 0 } });
  });

  it('uses the ledger and the rule of the receipt, not those of today', () => {
    const time = turnable();
    const before = createLimiter({
      name: 'plan',
      store: time.store,
      limits: { a: fixedWindow({ limit: 10, window: '1m' }) },
    });
    const receipt = receiptOf(before.consumeSync('x', { cost: 10 }));
    const after = createLimiter({
      name: 'plan',
      store: time.store,
      limits: { a: fixedWindow({ limit: 100, window: '1m' }) },
    });
    expect(after.settleSync(receipt, 50).limits.a).toEqual({ givenBack: 0, charged: 10, cut: 30 });
  });
});
