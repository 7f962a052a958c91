/** The four words, as the caller of a limiter sees them. */
import { describe, expect, it } from 'vitest';
import type { StoreEvent } from '../../src/failure/events.js';
import { createLimiter, type Failure, slidingWindowLog, tokenBucket } from '../../src/index.js';
import { type Behaviour, type FlakyStore, flakySyncStore, WAYS } from './flaky-store.js';
import { naiveStore } from './naive-store.js';

function apiOver(onStoreFailure: Failure, store: FlakyStore) {
  const events: StoreEvent[] = [];
  const fallback = naiveStore({ fails: 'never' });
  const limiter = createLimiter({
    name: 'api',
    store,
    limits: {
      burst: tokenBucket({ capacity: 40, refill: '40/1m' }),
      minute: slidingWindowLog({ limit: 100, window: '1m' }),
    },
    onStoreFailure,
    fallback: { store: fallback, share: 1 / 4 },
    storeTimeout: '20ms',
    onEvent: (event) => events.push(event),
  } as const);
  return { store, fallback, limiter, events };
}

const cause = new Error('ECONNREFUSED');
const outages: readonly (readonly [string, Behaviour, string])[] = [
  ['is unreachable', { does: 'fail', fault: 'unreachable', cause }, 'unreachable'],
  ['is read-only', { does: 'fail', fault: 'refused', cause }, 'refused'],
  ['holds a foreign key', { does: 'fail', fault: 'corrupt', cause }, 'corrupt'],
  ['hangs', { does: 'hang' }, 'unknown-outcome'],
  ['throws', { does: 'throw', error: cause }, 'unknown-outcome'],
  ['rejects', { does: 'reject', error: cause }, 'unknown-outcome'],
  ['answers nonsense', { does: 'answer', outcomes: () => 'OK' }, 'unknown-outcome'],
];

describe.each(WAYS)('a store %s', (_way, makeStore) => {
  const api = (word: Failure) => apiOver(word, makeStore());

  describe.each(outages)('when the store %s', (_, behaviour, fault) => {
    it("'allow' lets the call through, charges nothing and says that nobody counted", async () => {
      const { store, limiter, events } = api('allow');
      store.behaviour = behaviour;
      const decision = await limiter.consume('u');
      expect(decision).toMatchObject({
        allowed: true,
        wouldBe: true,
        retryAfterMs: 0,
        reason: 'store-failure',
        decidedBy: 'policy',
        bound: Number.POSITIVE_INFINITY,
        failure: { fault },
      });
      expect(decision.receipt).toBeUndefined();
      expect(events).toMatchObject([{ type: 'store-failure', fault, word: 'allow' }]);
    });

    it("'deny' refuses with a finite wait, and never as if a limit had been passed", async () => {
      const { store, limiter } = api('deny');
      store.behaviour = behaviour;
      const decision = await limiter.consume('u');
      expect(decision).toMatchObject({
        allowed: false,
        retryAfterMs: 1_000,
        reason: 'store-failure',
        decidedBy: 'policy',
        bound: 0,
        failure: { fault },
      });
      expect(decision.tightest).toBeUndefined();
    });

    it("'throw' rejects with ERR_LIMITER_STORE_FAILURE, and the cause", async () => {
      const { store, limiter } = api('throw');
      store.behaviour = behaviour;
      const thrown = await limiter.consume('u').then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(thrown).toMatchObject({ name: 'LimiterError', code: 'ERR_LIMITER_STORE_FAILURE' });
      expect((thrown as Error).cause).toBeInstanceOf(Error);
    });

    it("'fallback' decides with the share, and says so, how far it may be off, and why", async () => {
      const { store, limiter } = api('fallback');
      store.behaviour = behaviour;
      const decision = await limiter.consume('u', { cost: 4 });
      expect(decision).toMatchObject({
        allowed: true,
        reason: 'admitted',
        decidedBy: 'fallback',
        bound: 25,
        failure: { fault },
        limits: { burst: { charged: 4, remaining: 6 }, minute: { charged: 4, remaining: 21 } },
      });
      expect(await limiter.consume('u', { cost: 7 })).toMatchObject({
        allowed: false,
        reason: 'over-limit',
        decidedBy: 'fallback',
        retryAfterMs: 6_000,
        tightest: { name: 'burst' },
      });
    });

    it('a call may choose its own word', async () => {
      const { store, limiter } = api('allow');
      store.behaviour = behaviour;
      expect((await limiter.consume('u', { onStoreFailure: 'deny' })).allowed).toBe(false);
      expect((await limiter.consume('u', { onStoreFailure: 'fallback' })).decidedBy).toBe('fallback');
    });
  });

  describe('a fallback', () => {
    const down = { does: 'fail', fault: 'unreachable', cause } as const;

    it('that has too small a share for a cost within the limit says when to ask again', async () => {
      const { store, limiter } = api('fallback');
      store.behaviour = down;
      expect(await limiter.consume('u', { cost: 11 })).toMatchObject({
        allowed: false,
        reason: 'store-failure',
        decidedBy: 'policy',
        retryAfterMs: 1_000,
      });
      expect(await limiter.consume('u', { cost: 41 })).toMatchObject({
        allowed: false,
        reason: 'cost-above-limit',
        retryAfterMs: Number.POSITIVE_INFINITY,
      });
    });

    it('takes its own refunds, and leaves those of the store to the store', async () => {
      const { store, limiter } = api('fallback');
      const ofStore = await limiter.consume('u', { cost: 10 });
      store.behaviour = down;
      const ofFallback = await limiter.consume('u', { cost: 10 });
      expect((await limiter.refund(ofStore.receipt ?? '')).failure).toMatchObject({ fault: 'unreachable' });
      store.behaviour = { does: 'work' };
      expect((await limiter.refund(ofFallback.receipt ?? '')).limits).toMatchObject({ minute: { givenBack: 10 } });
      expect((await limiter.peek('u')).limits.minute.remaining).toBe(90);
      expect((await limiter.refund(ofStore.receipt ?? '')).limits).toMatchObject({ minute: { givenBack: 10 } });
      store.behaviour = down;
      expect((await limiter.peek('u')).limits.minute.remaining).toBe(25);
    });

    it('settles its own receipts by the share', async () => {
      const { store, limiter } = api('fallback');
      store.behaviour = down;
      const { receipt } = await limiter.consume('u', { cost: 10 });
      expect((await limiter.settle(receipt ?? '', 3)).limits).toMatchObject({ minute: { givenBack: 7 } });
      expect((await limiter.peek('u')).limits.minute.remaining).toBe(22);
    });

    it('is no place for a receipt where there is none: nothing is given back', async () => {
      const { store, limiter } = api('fallback');
      store.behaviour = down;
      const { receipt } = await limiter.consume('u', { cost: 10 });
      const limits = {
        burst: tokenBucket({ capacity: 40, refill: '40/1m' }),
        minute: slidingWindowLog({ limit: 100, window: '1m' }),
      };
      const elsewhere = makeStore();
      // A ledger with the very same marks, charged by somebody else.
      await createLimiter({ name: 'api', store: elsewhere, limits, onStoreFailure: 'deny' }).consume('u', { cost: 10 });
      const other = createLimiter({ name: 'api', store: elsewhere, limits, onStoreFailure: 'deny' });
      expect((await other.refund(receipt ?? '')).limits).toMatchObject({ minute: { givenBack: 0 } });
      expect((await other.peek('u')).limits.minute.remaining).toBe(90);
    });

    it('is reset together with the store', async () => {
      const { store, limiter } = api('fallback');
      store.behaviour = down;
      await limiter.consume('u', { cost: 10 });
      await expect(limiter.reset('u')).rejects.toMatchObject({
        code: 'ERR_LIMITER_STORE_FAILURE',
        // Whether it may have run all the same.
        message: expect.stringContaining('the store failed (unreachable): '),
      });
      expect((await limiter.peek('u')).limits.minute.remaining).toBe(25);
    });

    it('decides for a synchronous store as well', () => {
      const store = flakySyncStore();
      const limiter = createLimiter({
        name: 'api',
        store,
        limits: { minute: slidingWindowLog({ limit: 100, window: '1m' }) },
        onStoreFailure: 'fallback',
        fallback: { store: naiveStore({ fails: 'never' }), share: 0.5 },
        onEvent: () => {},
      });
      store.behaviour = { does: 'throw', error: new Error('disk full') };
      expect(limiter.consumeSync('u')).toMatchObject({ allowed: true, decidedBy: 'fallback', bound: 50 });
      expect(limiter.consumeSync('u', { onStoreFailure: 'deny' })).toMatchObject({
        allowed: false,
        reason: 'store-failure',
      });
      expect(() => limiter.consumeSync('u', { onStoreFailure: 'throw' })).toThrow('disk full');
    });
  });

  describe('nothing is asked twice', () => {
    it('a question that timed out is answered once, by its word, and the late answer is settled behind it', async () => {
      for (const [word, remaining] of [
        ['allow', 99],
        ['deny', 100],
        ['fallback', 100],
      ] as const) {
        const { store, limiter, events } = api(word);
        store.behaviour = { does: 'hold' };
        await limiter.consume('u');
        store.behaviour = { does: 'work' };
        store.release();
        await new Promise((resolve) => setTimeout(resolve, 20));
        expect((await limiter.peek('u')).limits.minute.remaining).toBe(remaining);
        expect(events.map(({ type }) => type)).toEqual(['store-failure', 'late-answer', 'store-recovered']);
      }
    });
  });
});
