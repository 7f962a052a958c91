import { memoryStore } from '@limiter/memory';
import { describe, expect, it } from 'vitest';
import type { AskStep, Charge, Step, Store } from '../src/index.js';
import { createLimiter, slidingWindowLog, tokenBucket, withDenialMemory } from '../src/index.js';

/** An asynchronous store that counts the steps that reach it, on one clock that is turned by hand. */
function counted(options: { staleMs?: number; max?: number; except?: string[] } = {}) {
  const time = { now: 1_000_000 };
  const memory = memoryStore({ clock: () => time.now });
  const seen: Step[] = [];
  const remote: Store = {
    traits: { ...memory.traits, sync: false, fails: 'possible' },
    run: (steps) => {
      seen.push(...steps);
      return memory.run(steps);
    },
  };
  const store = withDenialMemory(remote, { ...options, now: () => time.now });
  const limits = {
    log: slidingWindowLog({ by: 'org', limit: 3, window: '1s' }),
    bucket: tokenBucket({ by: 'user', capacity: 100, refill: '1/1s' }),
  };
  const limiter = createLimiter({ name: 'api', store, limits, onStoreFailure: 'throw' });
  return { time, seen, store, limiter };
}
const who = { org: 'o', user: 'u' };

/** A step of one charge on a fixed window of limit 1. */
function consume(value: string, cost: number): AskStep {
  const rule = { algorithm: 'fixed-window', limit: 1, windowMs: 1_000, align: 'clock', offsetMs: 0 } as const;
  const ledger = { name: 'x/y', grid: 'f1000', values: [value] };
  return { op: 'consume', charges: [{ ledger, rule, cost, holdBack: 0, enforce: true }] };
}

describe('denial memory', () => {
  it('answers the same question without the store until its retry time, and not a ms longer', async () => {
    const { time, seen, store, limiter } = counted();
    await limiter.consume(who, { cost: 3 });
    const denied = await limiter.consume(who);
    expect(denied).toMatchObject({ allowed: false, retryAfterMs: 1_000, decidedBy: 'store' });
    time.now += 600;
    const again = await limiter.consume(who);
    expect(again).toMatchObject({
      allowed: false,
      retryAfterMs: 400,
      decidedBy: 'denial-memory',
      reason: 'over-limit',
      tightest: { name: 'log' },
    });
    expect(again.at).toBe(denied.at + 600);
    time.now += 399;
    expect((await limiter.consume(who)).decidedBy).toBe('denial-memory');
    expect(seen).toHaveLength(2);
    time.now += 1;
    expect(await limiter.consume(who)).toMatchObject({ allowed: true, decidedBy: 'store' });
    expect(store.denials()).toEqual({ answered: 2, remembered: 0 });
  });

  it('another cost, subject or limit is another question', async () => {
    const { seen, limiter } = counted();
    await limiter.consume(who, { cost: 2 });
    expect((await limiter.consume(who, { cost: 2 })).allowed).toBe(false);
    expect((await limiter.consume(who, { cost: 1 })).allowed, 'what fits is admitted').toBe(true);
    expect((await limiter.consume({ org: 'o2', user: 'u' }, { cost: 2 })).allowed).toBe(true);
    expect((await limiter.consume(who, { cost: 2, limits: { log: 10 } })).allowed).toBe(true);
    expect(seen).toHaveLength(5);
  });

  it('values that only look alike when joined are kept apart', async () => {
    const { limiter } = counted();
    await limiter.consume({ org: 'a|1:b', user: 'u' }, { cost: 3 });
    expect((await limiter.consume({ org: 'a|1:b', user: 'u' })).allowed).toBe(false);
    expect((await limiter.consume({ org: 'a', user: 'b|1:u' })).allowed).toBe(true);
  });

  it('is believed for staleMs at most, also where the cost never fits', async () => {
    const { time, seen, limiter } = counted({ staleMs: 100 });
    expect(await limiter.consume(who, { cost: 4 })).toMatchObject({
      reason: 'cost-above-limit',
      retryAfterMs: Infinity,
    });
    time.now += 99;
    expect(await limiter.consume(who, { cost: 4 })).toMatchObject({
      decidedBy: 'denial-memory',
      retryAfterMs: Infinity,
    });
    time.now += 1;
    expect((await limiter.consume(who, { cost: 4 })).decidedBy).toBe('store');
    expect(seen).toHaveLength(2);
  });

  it('forgets when budget is given back or reset through it', async () => {
    const { limiter } = counted();
    const { receipt = '' } = await limiter.consume(who, { cost: 3 });
    await limiter.consume(who);
    await limiter.refund(receipt, 1);
    expect(await limiter.consume(who)).toMatchObject({ allowed: true, decidedBy: 'store' });
    await limiter.consume(who);
    await limiter.reset(who);
    expect((await limiter.consume(who)).allowed).toBe(true);
  });

  it('does not believe a denial that arrives after budget was given back', async () => {
    const { seen, limiter } = counted();
    await limiter.consume(who, { cost: 3 });
    const asked = seen[0] as Step;
    const memory = memoryStore();
    let answer = (): void => undefined;
    const slow = withDenialMemory({
      traits: { ...memory.traits, sync: false },
      run: async (steps) => {
        const outcomes = await memory.run(steps);
        if (steps[0]?.op === 'consume') await new Promise<void>((resolve) => (answer = resolve));
        return outcomes;
      },
    });
    await memory.run([asked]);
    const denied = slow.run([asked]);
    await slow.run([{ op: 'reset', ledgers: asked.op === 'consume' ? asked.charges.map(({ ledger }) => ledger) : [] }]);
    answer();
    expect((await denied)[0]).toMatchObject({ allowed: false });
    expect(slow.denials().remembered).toBe(0);
  });

  it('answers nothing itself that comes after a reset in the same run', async () => {
    const { store, seen, limiter } = counted();
    await limiter.consume(who, { cost: 3 });
    const asked = seen[0] as Step;
    await store.run([asked]);
    expect(store.denials().remembered).toBe(1);
    const ledgers = asked.op === 'consume' ? asked.charges.map(({ ledger }) => ledger) : [];
    const outcomes = await store.run([asked, { op: 'reset', ledgers }, asked]);
    expect(outcomes).toMatchObject([{ allowed: false, by: 'denial-memory' }, { op: 'reset' }, { allowed: true }]);
  });

  it('peeks, and limits whose denials must be seen, always ask the store', async () => {
    const { seen, store, limiter } = counted({ except: ['api/log'] });
    await limiter.consume(who, { cost: 3 });
    await limiter.consume(who);
    await limiter.consume(who);
    await limiter.peek(who);
    expect(seen).toHaveLength(4);
    expect(store.denials()).toEqual({ answered: 0, remembered: 0 });
  });

  it('holds at most max denials; the oldest leave first', async () => {
    const { store, limiter } = counted({ max: 2 });
    for (const org of ['a', 'b', 'c'])
      expect((await limiter.consume({ org, user: 'u' }, { cost: 4 })).allowed).toBe(false);
    expect(store.denials().remembered).toBe(2);
    expect((await limiter.consume({ org: 'a', user: 'u' }, { cost: 4 })).decidedBy).toBe('store');
    expect((await limiter.consume({ org: 'c', user: 'u' }, { cost: 4 })).decidedBy).toBe('denial-memory');
  });

  it('of a run it answers what comes before the first step that the store must see', async () => {
    const { store } = counted();
    await store.run([consume('a', 2)]);
    const outcomes = await store.run([consume('a', 2), consume('b', 1), consume('a', 2)]);
    expect(outcomes.map((outcome) => outcome.ok && 'allowed' in outcome && [outcome.allowed, outcome.by])).toEqual([
      [false, 'denial-memory'],
      [true, undefined],
      [false, undefined],
    ]);
  });

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
});
