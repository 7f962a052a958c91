import { memoryStore } from '@limiter/memory';
import { describe, expect, it } from 'vitest';
import type { Outcome, Step } from '../../src/index.js';
import { withDenialMemory } from '../../src/index.js';
import { consume, counted, who } from './counted-store.js';

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

  it('hands out answers of their own: what one caller does to it, no other gets to see', async () => {
    const time = { now: 1_000_000 };
    const store = withDenialMemory(memoryStore({ clock: () => time.now }), { now: () => time.now });
    const ask = [(step: Step) => store.runSync(step), async (step: Step) => (await store.run([step]))[0]] as const;
    store.runSync(consume('a', 1));
    for (const spoil of [ask[0], ...ask, ...ask]) {
      const spoilt = (await spoil(consume('a', 1))) as unknown as { now: number; verdicts: { remaining: number }[] };
      spoilt.now = 0;
      for (const verdict of spoilt.verdicts) verdict.remaining = 99;
      spoilt.verdicts.length = 0;
      for (const one of ask)
        expect(await one(consume('a', 1))).toMatchObject({
          by: 'denial-memory',
          now: time.now,
          verdicts: [{ admits: false, remaining: 0, retryAfterMs: 1_001_000 - time.now }],
        });
      time.now += 1;
    }
  });

  it('may be asked by its own clock, even while it looks for a denial that is past', () => {
    const time = { now: 1_000_000, asks: false };
    const store = withDenialMemory(memoryStore({ clock: () => time.now }), {
      now: () => {
        if (!time.asks) return time.now;
        time.asks = false;
        store.runSync(consume('a', 1));
        return time.now;
      },
    });
    for (let i = 0; i < 2; i += 1) store.runSync(consume('a', 1));
    expect(store.denials()).toEqual({ answered: 0, remembered: 1 });
    time.now += 1_000;
    time.asks = true;
    // The clock's question takes the budget that is back; this one comes after it.
    expect(store.runSync(consume('a', 1))).toMatchObject({ allowed: false });
    expect(store.denials()).toEqual({ answered: 0, remembered: 1 });
  });

  it('remembers nothing that somebody decided in the place of the store', () => {
    const memory = memoryStore({ clock: () => 1_000_000 });
    const inner = { ...memory, runSync: (step: Step) => ({ ...memory.runSync(step), by: 'fallback' }) as Outcome };
    const store = withDenialMemory(inner, { now: () => 1_000_000 });
    for (let i = 0; i < 2; i += 1) store.runSync(consume('a', 1));
    expect(store.denials().remembered).toBe(0);
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
});
