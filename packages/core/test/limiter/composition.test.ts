import { memoryStore } from '@limiter/memory';
import { describe, expect, it } from 'vitest';
import { createLimiter, fixedWindow, slidingWindowLog, tokenBucket } from '../../src/index.js';
import { turnable } from './turnable.js';

function uploads() {
  const time = turnable();
  const limiter = createLimiter({
    name: 'uploads',
    store: time.store,
    limits: {
      device: tokenBucket({ by: 'device', capacity: 10, refill: '10/1m' }),
      org: slidingWindowLog({ by: 'org', limit: 15, window: '1m' }),
    },
  });
  return { time, limiter };
}

describe('several limits are one question', () => {
  it('all admit and are charged, or none is', () => {
    const { limiter } = uploads();
    expect(limiter.consumeSync({ device: 'd1', org: 'o' }, { cost: 8 }).allowed).toBe(true);
    const refused = limiter.consumeSync({ device: 'd2', org: 'o' }, { cost: 8 });
    expect(refused).toMatchObject({ allowed: false, reason: 'over-limit', receipt: undefined });
    expect(refused.limits.device, 'the device had room and was not charged').toMatchObject({
      allowed: true,
      charged: 0,
      remaining: 10,
    });
    expect(refused.limits.org).toMatchObject({ allowed: false, remaining: 7, retryAfterMs: 60_000 });
    expect(limiter.consumeSync({ device: 'd2', org: 'o' }, { cost: 7 }).allowed, 'what fits is admitted at once').toBe(
      true,
    );
  });

  it('a denial dominates, and its wait is the longest of the limits that refuse', () => {
    const { limiter } = uploads();
    limiter.consumeSync({ device: 'd1', org: 'o' }, { cost: 10 });
    const refused = limiter.consumeSync({ device: 'd1', org: 'o' }, { cost: 6 });
    expect(refused.limits.device.retryAfterMs).toBe(36_000);
    expect(refused.limits.org.retryAfterMs).toBe(60_000);
    expect(refused).toMatchObject({ retryAfterMs: 60_000, tightest: { name: 'org' } });
  });

  it('a retry at the told moment is admitted, and one ms earlier it is not', () => {
    const { time, limiter } = uploads();
    limiter.consumeSync({ device: 'd1', org: 'o' }, { cost: 10 });
    const { retryAfterMs } = limiter.consumeSync({ device: 'd1', org: 'o' }, { cost: 6 });
    time.now += retryAfterMs - 1;
    expect(limiter.consumeSync({ device: 'd1', org: 'o' }, { cost: 6 })).toMatchObject({
      allowed: false,
      retryAfterMs: 1,
    });
    time.now += 1;
    expect(limiter.consumeSync({ device: 'd1', org: 'o' }, { cost: 6 }).allowed).toBe(true);
  });

  it('each limit can have a cost of its own; at cost 0 it admits, is not charged and never speaks', () => {
    const { limiter } = uploads();
    const decision = limiter.consumeSync({ device: 'd1', org: 'o' }, { cost: { device: 0, org: 15 } });
    expect(decision.limits.device).toMatchObject({ cost: 0, charged: 0, remaining: 10, resetAfterMs: 0 });
    expect(decision).toMatchObject({ allowed: true, tightest: { name: 'org', remaining: 0 } });
    expect(limiter.consumeSync({ device: 'd1', org: 'o' }, { cost: { device: 1, org: 0 } }).allowed).toBe(true);
    expect(limiter.consumeSync({ device: 'd1', org: 'o' }, { cost: 0 })).toMatchObject({
      allowed: true,
      tightest: undefined,
    });
  });

  it('the tightest of an admitted call is the limit with the fewest further calls; ties go to the first', () => {
    const time = turnable();
    const limits = {
      a: fixedWindow({ limit: 20, window: '1m' }),
      b: fixedWindow({ limit: 10, window: '1m' }),
      c: fixedWindow({ limit: 10, window: '1h' }),
    };
    const limiter = createLimiter({ name: 'ties', store: time.store, limits });
    expect(limiter.consumeSync('x').tightest?.name).toBe('b');
    expect(limiter.consumeSync('x', { cost: { a: 9, b: 1, c: 1 } }).tightest?.name).toBe('a');
  });

  it('null means that an axis does not apply: its limits are skipped and say so', () => {
    const { limiter } = uploads();
    const decision = limiter.consumeSync({ device: null, org: 'o' }, { cost: 12 });
    expect(decision.limits.device).toMatchObject({
      skipped: true,
      key: null,
      allowed: true,
      charged: 0,
      remaining: Infinity,
      retryAfterMs: 0,
    });
    expect(decision.limits.org).toMatchObject({ skipped: false, key: 'o', charged: 12 });
    expect(limiter.consumeSync({ device: null, org: null })).toMatchObject({
      allowed: true,
      decidedBy: 'policy',
      tightest: undefined,
    });
  });

  it('limiters that name the same ledger share it; others never do', () => {
    const { store } = turnable();
    const ceiling = fixedWindow({ by: 'org', limit: 3, window: '1h', ledger: 'ceiling' });
    const own = fixedWindow({ by: 'org', limit: 3, window: '1h' });
    const one = createLimiter({ name: 'one', store, limits: { ceiling, own } });
    const two = createLimiter({ name: 'two', store, limits: { ceiling, own } });
    one.consumeSync({ org: 'o' }, { cost: 2 });
    const seen = two.inspectSync({ org: 'o' });
    expect(seen.limits.ceiling.remaining).toBe(1);
    expect(seen.limits.own.remaining).toBe(3);
  });

  it('peek says what consume would, charges nothing and has no receipt', () => {
    const { limiter } = uploads();
    const peeked = limiter.peekSync({ device: 'd', org: 'o' }, { cost: 4 });
    expect(peeked).toMatchObject({ allowed: true, receipt: undefined });
    expect(peeked.limits.device).toMatchObject({ remaining: 10, charged: 0 });
    expect(limiter.consumeSync({ device: 'd', org: 'o' }, { cost: 4 }).allowed).toBe(peeked.allowed);
  });

  it('inspect reports every limit at cost 0', () => {
    const { limiter } = uploads();
    limiter.consumeSync({ device: 'd', org: 'o' }, { cost: 10 });
    expect(limiter.inspectSync({ device: 'd', org: 'o' })).toMatchObject({
      allowed: true,
      limits: {
        device: { remaining: 0, resetAfterMs: 60_000, moreAfterMs: 6_000 },
        org: { remaining: 5, resetAfterMs: 60_000 },
      },
    });
  });

  it('reset forgets exactly this subject, all limits or those that are named', () => {
    const { limiter } = uploads();
    for (const device of ['d', 'd:admin']) limiter.consumeSync({ device, org: device }, { cost: 10 });
    limiter.resetSync({ device: 'd', org: 'd' }, { limits: ['device'] });
    expect(limiter.inspectSync({ device: 'd', org: 'd' }).limits).toMatchObject({
      device: { remaining: 10 },
      org: { remaining: 5 },
    });
    limiter.resetSync({ device: 'd', org: 'd' });
    expect(limiter.inspectSync({ device: 'd', org: 'd' }).limits.org.remaining).toBe(15);
    expect(limiter.inspectSync({ device: 'd:admin', org: 'd:admin' }).limits.device.remaining).toBe(0);
  });

  it('the asynchronous forms answer the same', async () => {
    const { limiter } = uploads();
    const first = await limiter.consume({ device: 'd', org: 'o' }, { cost: 10 });
    expect(first.allowed).toBe(true);
    expect(await limiter.peek({ device: 'd', org: 'o' })).toMatchObject({ allowed: false, retryAfterMs: 6_000 });
    expect((await limiter.refund(first.receipt as string)).limits).toMatchObject({
      device: { givenBack: 10 },
      org: { givenBack: 10 },
    });
    await limiter.reset({ device: 'd', org: 'o' });
    expect((await limiter.inspect({ device: 'd', org: 'o' })).limits.device.remaining).toBe(10);
  });

  it('a listener that asks again in the middle of a decision disturbs neither', () => {
    const inner: string[] = [];
    const store = memoryStore({
      max: 1,
      onEvict: () => inner.push(limiter.consumeSync('inner', { cost: 2 }).limits.a.key ?? ''),
    });
    const limiter = createLimiter({ name: 'nested', store, limits: { a: fixedWindow({ limit: 10, window: '1m' }) } });
    const first = limiter.consumeSync('first', { cost: 3 });
    const second = limiter.consumeSync('second', { cost: 4 });
    expect(inner, 'evicting first, and then second').toEqual(['inner', 'inner']);
    expect(first.limits.a).toMatchObject({ key: 'first', cost: 3, remaining: 7 });
    expect(second.limits.a).toMatchObject({ key: 'second', cost: 4, remaining: 6 });
    expect(second.receipt).toContain('["second"],null,4');
  });

  it('a decision is plain data that survives JSON', () => {
    const { limiter } = uploads();
    const decision = limiter.consumeSync({ device: 'd', org: 'o' });
    expect(JSON.parse(JSON.stringify(decision))).toEqual(JSON.parse(JSON.stringify({ ...decision })));
    expect(JSON.parse(JSON.stringify(decision)).receipt).toBe(decision.receipt);
  });
});
