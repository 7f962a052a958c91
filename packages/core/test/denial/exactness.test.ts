import { memoryStore } from '@limiter/memory';
import { describe, expect, it } from 'vitest';
import type { Charge, Step } from '../../src/index.js';
import { createLimiter, slidingWindowLog, tokenBucket, withDenialMemory } from '../../src/index.js';
import { consume, counted, who } from './counted-store.js';

describe('a denial from memory is the one that the store would give', () => {
  it('asks again once a call of its caller was admitted: remaining is exact', async () => {
    const { time, limiter } = counted();
    await limiter.consume(who, { cost: 1 });
    time.now += 10;
    expect((await limiter.consume(who, { cost: 3 })).limits.log.remaining).toBe(2);
    expect((await limiter.consume(who, { cost: 3 })).decidedBy).toBe('denial-memory');
    await limiter.consume({ org: 'another', user: 'v' });
    expect((await limiter.consume(who, { cost: 3 })).decidedBy, 'another caller changes nothing').toBe('denial-memory');
    await limiter.consume(who, { cost: 1 });
    expect(await limiter.consume(who, { cost: 3 })).toMatchObject({
      decidedBy: 'store',
      retryAfterMs: 1_000,
      limits: { log: { remaining: 1 } },
    });
  });

  it('asks again when another limit of the call has changed by itself', async () => {
    const { time, limiter } = counted();
    await limiter.consume(who, { cost: 3 });
    time.now += 200;
    expect((await limiter.consume(who)).limits.bucket).toMatchObject({ remaining: 97, moreAfterMs: 800 });
    time.now += 799;
    expect(await limiter.consume(who)).toMatchObject({
      decidedBy: 'denial-memory',
      retryAfterMs: 1,
      limits: { bucket: { remaining: 97, moreAfterMs: 1 } },
    });
  });

  it('a refund of less than a whole unit counts: the wait that was told is not true any more', async () => {
    const time = { now: 1_000_000 };
    const store = withDenialMemory(memoryStore({ clock: () => time.now }), { now: () => time.now });
    const limits = { bucket: tokenBucket({ capacity: 10, refill: '1/1s' }) };
    const limiter = createLimiter({ name: 'api', store, limits, onStoreFailure: 'throw' });
    const { receipt = '' } = await limiter.consume('u', { cost: 1 });
    time.now += 400;
    expect(await limiter.consume('u', { cost: 10 })).toMatchObject({ decidedBy: 'store', retryAfterMs: 600 });
    const { limits: back } = await limiter.refund(receipt);
    expect(back.bucket?.givenBack).toBe(0);
    expect(await limiter.consume('u', { cost: 10 })).toMatchObject({ decidedBy: 'store', allowed: true });
  });

  it.each([
    ['a refund', { op: 'adjust' }],
    ['an admitted call', { op: 'consume' }],
    ['a reset', { op: 'reset' }],
  ] as const)('asks again after %s whose outcome nobody knows', async (_, { op }) => {
    const { store: inner, time } = counted();
    let lost = false;
    const store = withDenialMemory(
      {
        traits: inner.traits,
        run: async (steps) => {
          const outcomes = await inner.run(steps);
          return lost
            ? steps.map(() => ({ ok: false, fault: 'unknown-outcome', cause: 'the link was lost' }))
            : outcomes;
        },
      },
      { now: () => time.now },
    );
    const [charge] = consume('a', 2).charges as [Charge];
    await store.run([consume('a', 2)]);
    expect(store.denials()).toEqual({ answered: 0, remembered: 1 });
    lost = true;
    const steps: Record<typeof op, Step> = {
      adjust: {
        op: 'adjust',
        adjustments: [{ ...charge, mark: undefined, charged: 0, change: 'give-back', amount: 0 }],
      },
      consume: consume('a', 1),
      reset: { op: 'reset', ledgers: [charge.ledger] },
    };
    await store.run([steps[op]]);
    lost = false;
    await store.run([consume('a', 2)]);
    expect(store.denials().answered).toBe(0);
  });

  it('tells the waits from the arrival of the denial, and asks again by its sending', async () => {
    const time = { now: 1_000_000 };
    const memory = memoryStore({ clock: () => time.now });
    const store = withDenialMemory(
      {
        traits: { ...memory.traits, sync: false },
        run: async (steps) => {
          time.now += 5;
          const outcomes = await memory.run(steps);
          time.now += 5;
          return outcomes;
        },
      },
      { now: () => time.now },
    );
    const limiter = createLimiter({
      name: 'api',
      store,
      limits: { log: slidingWindowLog({ limit: 1, window: '1s' }) },
      onStoreFailure: 'throw',
      storeTimeout: '10s',
    });
    await limiter.consume('u');
    const sentAt = time.now;
    expect((await limiter.consume('u')).retryAfterMs).toBe(990);
    time.now = sentAt + 100;
    expect((await limiter.consume('u')).retryAfterMs).toBe(990 - 90);
    time.now = sentAt + 989;
    expect((await limiter.consume('u')).decidedBy).toBe('denial-memory');
    time.now = sentAt + 990;
    expect((await limiter.consume('u')).decidedBy).toBe('store');
  });

  it('an answer stays as it was when later ones are older', async () => {
    const { time, store } = counted();
    await store.run([consume('a', 2)]);
    const [first] = await store.run([consume('a', 2)]);
    const kept = structuredClone(first);
    time.now += 100;
    const [second] = await store.run([consume('a', 2)]);
    expect(second).not.toEqual(first);
    expect(first).toEqual(kept);
  });

  it('believes nothing when its own clock was set back to before the denial', async () => {
    const { time, limiter } = counted();
    await limiter.consume(who, { cost: 4 });
    time.now -= 1;
    expect((await limiter.consume(who, { cost: 4 })).decidedBy).toBe('store');
  });

  it('any string is a value of its own, also where it leads to no other', async () => {
    const { limiter, store } = counted();
    const values = [
      '',
      '__proto__',
      'constructor',
      '\0',
      '\ud800',
      '\udc00',
      '\n',
      ':',
      '{a}',
      'x'.repeat(10_000),
      'ü',
    ];
    for (const org of values)
      for (const user of values) {
        const decision = await limiter.consume({ org, user }, { cost: 4 });
        expect(decision.decidedBy, JSON.stringify([org, user])).toBe('store');
      }
    for (const org of values)
      for (const user of values) expect((await limiter.consume({ org, user }, { cost: 4 })).limits.log.key).toBe(org);
    expect(store.denials()).toEqual({ answered: values.length ** 2, remembered: values.length ** 2 });
  });

  it('keeps at most 64 questions of one caller, the newest', async () => {
    const { limiter, store } = counted();
    for (let cost = 4; cost < 104; cost += 1) await limiter.consume(who, { cost });
    expect(store.denials()).toEqual({ answered: 0, remembered: 64 });
    expect((await limiter.consume(who, { cost: 103 })).decidedBy).toBe('denial-memory');
    expect((await limiter.consume(who, { cost: 39 })).decidedBy).toBe('store');
  });

  it('what is past leaves as new denials come', async () => {
    const { time, limiter, store } = counted({ staleMs: 100 });
    for (let i = 0; i < 100; i += 1) await limiter.consume({ org: `o${i}`, user: 'u' }, { cost: 4 });
    time.now += 100;
    for (let i = 0; i < 50; i += 1) await limiter.consume({ org: `p${i}`, user: 'u' }, { cost: 4 });
    expect(store.denials().remembered).toBe(50);
  });

  it('answers whom it was asked for when a getter of the subject asks the same limiter', async () => {
    const { limiter } = counted();
    for (let i = 0; i < 2; i += 1) await limiter.consume({ org: 'other', user: 'u' }, { cost: 3 });
    const between: unknown[] = [];
    const subject = {
      org: 'mine',
      get user(): string {
        between.push(limiter.consume({ org: 'other', user: 'u' }, { cost: 3 }));
        return 'u';
      },
    };
    expect(await limiter.consume(subject, { cost: 3 })).toMatchObject({
      allowed: true,
      limits: { log: { key: 'mine' } },
    });
    for (const one of between) expect(await one).toMatchObject({ allowed: false, decidedBy: 'denial-memory' });
  });

  it('answers nobody for a limiter that was closed', async () => {
    const { limiter } = counted();
    for (let i = 0; i < 2; i += 1) await limiter.consume(who, { cost: 3 });
    await limiter.close();
    await expect(limiter.consume(who, { cost: 3 })).rejects.toMatchObject({ code: 'ERR_LIMITER_CLOSED' });
  });

  it('remembers nothing of an answer that does not belong to the question', async () => {
    const { store: inner } = counted();
    const nonsense = { ok: true, op: 'consume', now: 0, allowed: false, verdicts: [] } as const;
    const store = withDenialMemory({ traits: inner.traits, run: async () => [nonsense] });
    await store.run([consume('a', 2)]);
    expect(store.denials().remembered).toBe(0);
  });
});
