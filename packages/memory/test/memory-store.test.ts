import {
  type AdjustOutcome,
  type AdjustStep,
  type AskStep,
  createLimiter,
  fixedWindow,
  LimiterError,
  type Step,
} from '@limiter/core';
import { describe, expect, it } from 'vitest';
import { type MemoryStoreOptions, memoryStore } from '../src/index.js';
import { ask, bucket, charge, consume, fixed, log, peek, refund, remaining, START } from './steps.js';

const DAY = 86_400_000;

function open(options: MemoryStoreOptions = {}) {
  const clock = { now: START, reads: 0 };
  const read = (): number => {
    clock.reads += 1;
    return clock.now;
  };
  return { clock, store: memoryStore({ clock: read, ...options }) };
}

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof LimiterError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return 'no error';
}

describe('a memory store', () => {
  it('says what it is', () => {
    expect(memoryStore().traits).toEqual({
      sync: true,
      atomic: 'always',
      clock: 'own',
      durable: 'no',
      fails: 'never',
      algorithms: ['fixed-window', 'sliding-window-log', 'token-bucket'],
      instances: 1,
    });
    expect(memoryStore({ clock: () => 0, instances: 4 }).traits).toMatchObject({ clock: 'caller', instances: 4 });
    expect(memoryStore().stats()).toEqual({
      size: 0,
      max: 100_000,
      evictedExpired: 0,
      evictedLive: 0,
      evictedExhausted: 0,
    });
  });

  it('refuses options that mean nothing, with the value and the rule', () => {
    for (const max of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 8_000_001, '5'] as number[]) {
      expect(codeOf(() => memoryStore({ max }))).toMatch(
        /^ERR_LIMITER_OPTION: max must be a whole number of keys.*got/,
      );
    }
    for (const instances of [0, -2, 0.5, Number.NaN, 2 ** 53]) {
      expect(codeOf(() => memoryStore({ instances }))).toMatch(/^ERR_LIMITER_OPTION: instances must .*got/);
    }
    expect(codeOf(() => memoryStore({ clock: 5 as never }))).toBe(
      'ERR_LIMITER_OPTION: clock must be a function that returns ms, got 5',
    );
    expect(codeOf(() => memoryStore({ onEvict: 'log' as never }))).toBe(
      'ERR_LIMITER_OPTION: onEvict must be a function, got "log"',
    );
  });

  it('reads the clock once for a step, and once for the steps of a run', async () => {
    const { store, clock } = open();
    const three = [1, 2, 3].map((n) => charge(fixed(10, 60_000), `key:${n}`));
    consume(store, ...three);
    expect(clock.reads).toBe(1);
    peek(store, ...three);
    expect(clock.reads).toBe(2);
    await store.run([
      { op: 'consume', charges: three },
      { op: 'reset', ledgers: three.map(({ ledger }) => ledger) },
    ]);
    expect(clock.reads).toBe(3);
  });

  it('takes no time that is not a whole number of ms from 0 to 2^52-1, and then changes nothing', async () => {
    const { store, clock } = open();
    const one = charge(fixed(10, 60_000), 'a');
    consume(store, one);
    const wrong = [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 52, '5', 5n, undefined, null, {}, new Date(0)];
    for (const now of wrong as number[]) {
      clock.now = now;
      expect(codeOf(() => consume(store, one))).toMatch(
        /^ERR_LIMITER_CLOCK: the clock must return whole ms since the Unix epoch, 0 <= now < 2\^52, got/,
      );
      await expect(store.run([{ op: 'consume', charges: [one] }])).rejects.toMatchObject({ code: 'ERR_LIMITER_CLOCK' });
    }
    clock.now = START;
    expect(remaining(store, one)).toBe(9);
    for (const now of [0, -0, 2 ** 52 - 1]) {
      clock.now = now;
      expect(Object.is(consume(store, charge(fixed(1, 60_000), `at ${now}`)).now, now + 0)).toBe(true);
    }
  });

  it('starts no timer and keeps nothing alive, however many keys and windows it holds', () => {
    const before = process.getActiveResourcesInfo().length;
    const { store } = open();
    const step: AdjustStep = {
      op: 'adjust',
      adjustments: [],
      once: { key: 'r', ttlMs: 1_000, beside: charge(fixed(1, 1), 'a').ledger },
    };
    for (let i = 0; i < 1_000; i += 1) consume(store, charge(fixed(5, 25 * DAY), `f${i}`), charge(log(5, 1), `l${i}`));
    store.runSync(step);
    expect(process.getActiveResourcesInfo().length).toBe(before);
  });

  it('enforces windows of 25 and 30 days, longer than any timer', () => {
    for (const days of [25, 30, 400]) {
      for (const rule of [fixed(1, days * DAY), log(1, days * DAY), bucket(1, 1, days * DAY)]) {
        const { store, clock } = open();
        expect(consume(store, charge(rule, 'a')).allowed).toBe(true);
        clock.now += days * DAY - 1;
        const refused = consume(store, charge(rule, 'a'));
        expect([refused.allowed, refused.verdicts[0]?.retryAfterMs]).toEqual([false, 1]);
        clock.now += 1;
        expect(consume(store, charge(rule, 'a')).allowed).toBe(true);
      }
    }
  });

  it('hands out copies: an answer never changes afterwards', () => {
    for (const rule of [fixed(10, 60_000), log(10, 60_000), bucket(10, 1, 60_000)]) {
      const { store } = open();
      const answers = Array.from({ length: 15 }, () => consume(store, charge(rule, 'a')));
      const told = JSON.stringify(answers);
      expect(answers.filter(({ allowed }) => allowed)).toHaveLength(10);
      expect(answers.map(({ verdicts }) => verdicts[0]?.remaining)).toEqual([
        9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0,
      ]);
      refund(store, charge(rule, 'a'), answers[9]?.verdicts[0]?.mark);
      store.runSync({ op: 'reset', ledgers: [charge(rule, 'a').ledger] });
      expect(JSON.stringify(answers)).toBe(told);
    }
  });

  it('lends its answer where it is asked to: the next step writes over it', () => {
    const { store } = open();
    const step = (key: string, cost: number): AskStep => ({
      op: 'consume',
      charges: [charge(fixed(5, DAY), key, { cost })],
    });
    const lent = store.askSync(step('a', 1));
    const { now, allowed, verdicts } = consume(open().store, charge(fixed(5, DAY), 'a'));
    expect(lent).toMatchObject({ now, allowed, verdicts: [{ ...verdicts[0], mark: { at: START, position: 0 } }] });
    expect(store.askSync(step('b', 2))).toBe(lent);
    expect(lent).toMatchObject({ verdicts: [{ remaining: 3 }] });
  });

  it('a listener of evictions that asks again changes no answer that was lent', () => {
    const limits = { few: fixedWindow({ limit: 3, window: '1d' }) };
    let asked = 0;
    const store = memoryStore({
      clock: () => START,
      max: 1,
      onEvict: () => {
        asked += 1;
        if (asked === 1) listener.consumeSync('third', { cost: 3 });
      },
    });
    const limiter = createLimiter({ name: 'a', store, limits });
    const listener = createLimiter({ name: 'b', store, limits });
    limiter.consumeSync('first');
    const { few } = limiter.consumeSync('second').limits;
    expect(asked).toBe(2);
    expect(few).toMatchObject({ cost: 1, charged: 1, remaining: 2 });
  });

  it('a copy of it with another runSync is asked by that one', () => {
    const { store } = open();
    let asked = 0;
    const wrapped = {
      ...store,
      runSync: (step: Step) => {
        asked += 1;
        return store.runSync(step);
      },
    };
    const limits = { few: fixedWindow({ limit: 3, window: '1d' }) };
    expect(createLimiter({ name: 'a', store: wrapped, limits }).consumeSync('x').allowed).toBe(true);
    expect(asked).toBe(1);
  });

  it('answers fifteen questions of one run on limit 10 with ten admissions', async () => {
    const { store } = open();
    const step: Step = { op: 'consume', charges: [charge(fixed(10, 60_000), 'a')] };
    const outcomes = await store.run(Array.from({ length: 15 }, () => step));
    expect(outcomes.filter((outcome) => outcome.ok && 'allowed' in outcome && outcome.allowed)).toHaveLength(10);
  });

  it('runs nothing once the signal has aborted, and says so', async () => {
    const { store } = open();
    const one = charge(fixed(10, 60_000), 'a');
    const step: Step = { op: 'consume', charges: [one] };
    const cause = new Error('too late');
    const outcomes = await store.run([step, step], AbortSignal.abort(cause));
    expect(outcomes).toEqual([
      { ok: false, fault: 'unreachable', cause },
      { ok: false, fault: 'unreachable', cause },
    ]);
    expect(remaining(store, one)).toBe(10);
    expect((await store.run([step], new AbortController().signal))[0]?.ok).toBe(true);
  });

  it('leaves no trace of what was refused, or only looked at, or cost nothing', () => {
    const { store } = open();
    const rule = fixed(5, 60_000);
    consume(store, charge(rule, 'too much', { cost: 6 }));
    peek(store, charge(rule, 'looked at'));
    consume(store, charge(rule, 'free', { cost: 0 }));
    consume(store, charge(rule, 'admitted'), charge(fixed(0, 60_000), 'refused'));
    expect(store.stats().size).toBe(0);
  });

  it('forgets exactly the ledgers that a reset names', () => {
    const { store } = open();
    const rule = fixed(5, 60_000);
    const named = ['api/a', 'api/b', 'api/c'].map((name) => charge(rule, 'x', { name, cost: 2 }));
    consume(store, ...named, charge(rule, 'xy', { cost: 2 }), charge(rule, '*', { cost: 2 }));
    for (const [gone, kept] of [
      [1, [3, 5, 3]],
      [0, [5, 5, 3]],
      [0, [5, 5, 3]],
      [2, [5, 5, 5]],
    ] as const) {
      store.runSync({ op: 'reset', ledgers: [(named[gone] as (typeof named)[number]).ledger] });
      expect(named.map((one) => remaining(store, one))).toEqual(kept);
    }
    store.runSync({ op: 'reset', ledgers: [charge(rule, '*').ledger, charge(rule, 'unknown').ledger] });
    expect(remaining(store, charge(rule, 'xy'))).toBe(3);
    expect(store.stats()).toMatchObject({ size: 1, evictedExpired: 0, evictedLive: 0 });
    consume(store, ...named);
    expect(named.map((one) => remaining(store, one))).toEqual([3, 3, 3]);
  });

  it('adjusts once for a marker, which leaves when its time is over', () => {
    const { store, clock } = open();
    const one = charge(fixed(10, DAY), 'a', { cost: 6 });
    const mark = consume(store, one).verdicts[0]?.mark;
    const giveBack = (key: string): AdjustOutcome =>
      store.runSync({
        op: 'adjust',
        once: { key, ttlMs: 1_000, beside: one.ledger },
        adjustments: [{ ...one, mark, charged: 6, change: 'give-back', amount: 1 }],
      }) as AdjustOutcome;
    expect(giveBack('r1')).toMatchObject({ closed: false, adjusted: [{ givenBack: 1 }] });
    expect(giveBack('r1')).toEqual({ ok: true, op: 'adjust', now: START, closed: true, adjusted: [] });
    expect(giveBack('r2')).toMatchObject({ closed: false, adjusted: [{ givenBack: 1 }] });
    expect(remaining(store, one)).toBe(6);
    expect(store.stats().size).toBe(3);
    clock.now += 999;
    expect(giveBack('r1').closed).toBe(true);
    clock.now += 1;
    expect(giveBack('r1')).toMatchObject({ closed: false, adjusted: [{ givenBack: 1 }] });
    consume(store, one);
    expect(store.stats().size).toBe(2);
  });

  it('keeps a marker longer than keys with budget when it is full', () => {
    const { store } = open({ max: 3 });
    const once = { key: 'r', ttlMs: 1_000, beside: charge(fixed(1, 1), 'a').ledger };
    store.runSync({ op: 'adjust', adjustments: [], once });
    for (let i = 0; i < 20; i += 1) consume(store, charge(fixed(5, DAY), `key:${i}`));
    expect(store.runSync({ op: 'adjust', adjustments: [], once })).toMatchObject({ closed: true });
    expect(store.stats()).toMatchObject({ size: 3, evictedLive: 18, evictedExhausted: 0 });
  });

  it('charges what a settlement adds to a ledger that it does not know, and keeps it', () => {
    const { store, clock } = open();
    const one = charge(log(10, 60_000), 'a');
    const settle = (amount: number): AdjustOutcome =>
      store.runSync({
        op: 'adjust',
        adjustments: [{ ...one, mark: undefined, charged: 1, change: 'charge', amount }],
      }) as AdjustOutcome;
    expect(settle(15).adjusted).toEqual([{ givenBack: 0, charged: 15, cut: 0 }]);
    expect(settle(15).adjusted).toEqual([{ givenBack: 0, charged: 5, cut: 10 }]);
    expect(peek(store, one).verdicts[0]).toMatchObject({ remaining: 0, resetAfterMs: 60_000 });
    clock.now += 60_000;
    expect(remaining(store, one)).toBe(10);
  });

  it('gives nothing back to a receipt of an earlier process', () => {
    const rule = fixed(10, DAY);
    const mark = consume(open().store, charge(rule, 'a', { cost: 5 })).verdicts[0]?.mark;
    const later = open().store;
    consume(later, charge(rule, 'a', { cost: 5 }));
    expect(refund(later, charge(rule, 'a', { cost: 5 }), mark).givenBack).toBe(0);
  });

  it('holds a limit for each of thousands of names, and makes room for new ones when old ones are empty', () => {
    const { store, clock } = open({ max: 500 });
    for (let i = 0; i < 3_000; i += 1) {
      clock.now += 10;
      const one = charge(fixed(5, 1_000), 'a', { name: `limiter${i}/limit`, cost: 2 });
      consume(store, one);
      expect(remaining(store, one)).toBe(3);
      if (i > 0) expect(remaining(store, charge(fixed(5, 1_000), 'a', { name: `limiter${i - 1}/limit` }))).toBe(3);
      store.runSync({ op: 'reset', ledgers: [charge(fixed(5, 1_000), 'a', { name: `limiter${i - 1}/limit` }).ledger] });
    }
  });

  it('divides every limit among the instances that share the traffic', () => {
    const limits = { day: fixedWindow({ limit: 10, window: '1d' }) };
    const limiter = createLimiter({ name: 'api', store: memoryStore({ instances: 4 }), limits });
    expect(limiter.inspectSync('a').limits.day).toMatchObject({ limit: 2, remaining: 2 });
    expect(codeOf(() => createLimiter({ name: 'api', store: memoryStore({ instances: 11 }), limits }))).toMatch(
      /^ERR_LIMITER_/,
    );
  });

  it('may share its ledgers between limiters of different limits without mixing them up', () => {
    const { store } = open();
    const outcome = ask(
      store,
      'consume',
      charge(bucket(5, 1, 1_000), 'a', { name: 'one/limit' }),
      charge(bucket(5, 1, 2_000), 'a', { name: 'one/limit', cost: 2 }),
      charge(log(5, 1_000), 'a', { name: 'one/limit', cost: 3 }),
      charge(fixed(5, 1_000), 'a', { name: 'two/limit', cost: 4 }),
    );
    expect(outcome.verdicts.map((verdict) => verdict.remaining)).toEqual([4, 3, 2, 1]);
  });
});
