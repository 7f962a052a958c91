import { describe, expect, it, vi } from 'vitest';
import type { StoreEvent } from '../../src/failure/events.js';
import { protect } from '../../src/failure/protect.js';
import type { Failure, Step } from '../../src/index.js';
import { flakyStore, flakySyncStore, WAYS } from './flaky-store.js';
import { naiveStore } from './naive-store.js';
import { watchStandstill } from './standstill.js';
import { asked, charge, consume, faulty, peek, perMinute } from './steps.js';

const rule = perMinute(100);
const step = (word: Failure) => consume(charge(rule), word);
const settle = (ms = 20): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe.each(WAYS)('the store as a limiter uses it, %s', (_, makeStore) => {
  function whole(timeoutMs = 20) {
    const store = makeStore();
    const fallback = naiveStore({ fails: 'never' });
    const events: StoreEvent[] = [];
    const protectedStore = protect(store, {
      name: 'api',
      timeoutMs,
      fallback: { store: fallback, share: 0.1 },
      breaker: { failures: 3, probeAfterMs: 400 },
      onEvent: (event) => events.push(event),
    });
    const ask = async (word: Failure) => (await protectedStore.run([step(word)]))[0];
    return { store, fallback, events, protectedStore, ask };
  }

  it('is the very store when it cannot fail', () => {
    const store = naiveStore({ fails: 'never' });
    expect(protect(store, { name: 'api' })).toBe(store);
  });

  it('has runSync if and only if the store has it', () => {
    expect('runSync' in protect(makeStore(), { name: 'api' })).toBe(false);
    expect('runSync' in protect(flakySyncStore(), { name: 'api' })).toBe(true);
  });

  it('has 250 ms unless something else is said', async () => {
    const store = makeStore();
    store.behaviour = { does: 'hang' };
    const standstill = watchStandstill();
    const startedAt = performance.now();
    const [outcome] = await protect(store, { name: 'api', onEvent: () => {} }).run([step('deny')]);
    expect(faulty(outcome).fault).toBe('unknown-outcome');
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(249);
    expect(performance.now() - startedAt).toBeLessThan(300 + standstill());
  });

  it('goes through an outage with one event at its beginning, one breaker and one end', async () => {
    const { store, events, ask } = whole();
    expect(asked(await ask('fallback')).by).toBeUndefined();
    store.behaviour = { does: 'hang' };
    for (let i = 0; i < 3; i += 1) {
      expect(asked(await ask('fallback'))).toMatchObject({ by: 'fallback', bound: 10 });
    }
    expect(events.map(({ type }) => type)).toEqual(['store-failure', 'breaker-opened']);
    const calls = store.calls.length;
    for (let i = 0; i < 7; i += 1) expect(asked(await ask('fallback')).allowed).toBe(true);
    expect(asked(await ask('fallback'))).toMatchObject({ allowed: false, by: 'fallback' });
    expect(faulty(await ask('deny')).retryAfterMs).toBeGreaterThan(0);
    expect(store.calls).toHaveLength(calls);
    store.behaviour = { does: 'work' };
    await settle(400);
    expect(asked(await ask('fallback'))).toMatchObject({ allowed: true, verdicts: [{ remaining: 98 }] });
    expect(events.slice(2).map(({ type }) => type)).toEqual(['breaker-closed', 'store-recovered']);
  });

  it('decides again within a probe interval and 1 s of the store being back', async () => {
    const { store, ask } = whole();
    store.behaviour = { does: 'hang' };
    for (let i = 0; i < 10; i += 1) await ask('deny');
    store.behaviour = { does: 'work' };
    const standstill = watchStandstill();
    const backAt = performance.now();
    while (!(await ask('deny'))?.ok) await settle(5);
    expect(performance.now() - backAt).toBeLessThan(450 + standstill());
  });

  it('gives a late charge back when the fallback had decided, and the fallback keeps its own', async () => {
    const { store, fallback, events, ask } = whole();
    store.behaviour = { does: 'hold' };
    expect(asked(await ask('fallback')).by).toBe('fallback');
    store.behaviour = { does: 'work' };
    store.release();
    await settle();
    expect(asked(store.behind.runSync(peek(charge(rule)))).verdicts[0]?.remaining).toBe(100);
    expect(asked(fallback.runSync(peek(charge(perMinute(10))))).verdicts[0]?.remaining).toBe(9);
    expect(events.map(({ type }) => type)).toEqual(['store-failure', 'late-answer']);
  });

  it('may go without a breaker', async () => {
    const store = makeStore();
    store.behaviour = { does: 'fail', fault: 'unreachable' };
    const bare = protect(store, { name: 'api', breaker: false, onEvent: () => {} });
    for (let i = 0; i < 20; i += 1) faulty((await bare.run([step('deny')]))[0]);
    expect(store.calls).toHaveLength(20);
  });

  it('a synchronous store gets no deadline and no breaker, but its throws are faults and the fallback decides', () => {
    const store = flakySyncStore();
    const fallback = { store: naiveStore({ fails: 'never' }), share: 0.5 };
    const events: StoreEvent[] = [];
    const whole = protect(store, { name: 'api', fallback, onEvent: (event) => events.push(event) });
    store.behaviour = { does: 'throw', error: new Error('disk full') };
    for (let i = 0; i < 20; i += 1) faulty(whole.runSync(step('throw')));
    expect(asked(whole.runSync(step('fallback')))).toMatchObject({ by: 'fallback', bound: 50 });
    store.behaviour = { does: 'work' };
    expect(asked(whole.runSync(step('throw'))).allowed).toBe(true);
    expect(events.map(({ type }) => type)).toEqual(['store-failure', 'store-recovered']);
  });

  it('256 calls at once in a hang are each answered within the deadline and 50 ms, by every word', async () => {
    const { store, ask } = whole(100);
    store.behaviour = { does: 'hang' };
    const standstill = watchStandstill();
    const words: readonly Failure[] = ['allow', 'deny', 'throw', 'fallback'];
    const tookMs = await Promise.all(
      Array.from({ length: 256 }, async (_, i) => {
        const startedAt = performance.now();
        await ask(words[i % 4] as Failure);
        return performance.now() - startedAt;
      }),
    );
    expect(Math.max(...tookMs)).toBeLessThan(150 + standstill());
  });
});

describe('a charge that a fallback made elsewhere', () => {
  it('is not looked for in the store, and what is asked beside it is answered as ever', async () => {
    const store = flakySyncStore();
    const { ledger } = charge(rule);
    const mark = asked(store.runSync(step('deny'))).verdicts[0]?.mark;
    const foreign: Step = {
      op: 'adjust',
      by: 'fallback',
      adjustments: [{ ledger, rule, mark, charged: 1, change: 'give-back', amount: 1 }],
    };
    const nothing = { ok: true, op: 'adjust', closed: false, adjusted: [{ givenBack: 0, charged: 0, cut: 0 }] };
    const alone = protect(store, { name: 'api' });
    const calls = store.calls.length;
    expect(alone.runSync(foreign)).toMatchObject(nothing);
    expect(await alone.run([foreign])).toMatchObject([nothing]);
    expect(store.calls).toHaveLength(calls);
    const outcomes = await alone.run([foreign, peek(charge(rule)), foreign, { ...foreign, by: undefined }]);
    expect(outcomes[0]).toMatchObject(nothing);
    expect(asked(outcomes[1]).verdicts[0]?.remaining).toBe(99);
    expect(outcomes[2]).toMatchObject(nothing);
    expect(outcomes[3]).toMatchObject({ ok: true, adjusted: [{ givenBack: 1 }] });
  });
});

describe('nobody watches', () => {
  it('warns once, by the limiter, and never where there is no process to warn', async () => {
    const emitWarning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    try {
      const store = flakyStore();
      const silent = protect(store, { name: 'uploads' });
      store.behaviour = { does: 'fail', fault: 'refused', cause: new Error("READONLY You can't write") };
      for (let i = 0; i < 100; i += 1) await silent.run([step('deny')]);
      store.behaviour = { does: 'work' };
      await silent.run([step('deny')]);
      expect(emitWarning.mock.calls).toEqual([
        [
          "limiter uploads: the store failed (refused: READONLY You can't write); onStoreFailure: 'deny' decides.",
          { type: 'LimiterWarning', code: 'LIMITER_STORE_FAILURE' },
        ],
      ]);
      vi.stubGlobal('process', undefined);
      const elsewhere = protect(store, { name: 'uploads' });
      store.behaviour = { does: 'fail', fault: 'refused', cause: 'no error' };
      expect(faulty((await elsewhere.run([step('deny')]))[0]).cause).toBe('no error');
      expect(emitWarning).toHaveBeenCalledOnce();
    } finally {
      vi.unstubAllGlobals();
      emitWarning.mockRestore();
    }
  });

  it('says how many warnings it left out', async () => {
    const emitWarning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    try {
      const store = flakyStore();
      const clock = { ms: 0 };
      const silent = protect(store, { name: 'uploads', now: () => clock.ms });
      store.behaviour = { does: 'fail', fault: 'refused', cause: 'OOM' };
      for (let i = 0; i < 4; i += 1) await silent.run([step('deny')]);
      clock.ms = 60_000;
      await silent.run([{ op: 'reset', ledgers: [] }]);
      expect(emitWarning.mock.calls[1]?.[0]).toBe(
        'limiter uploads: the store failed (refused: OOM). 3 more since the last warning.',
      );
    } finally {
      emitWarning.mockRestore();
    }
  });
});
