import { describe, expect, it, vi } from 'vitest';
import { LimiterError } from '../../src/errors.js';
import { withBreaker } from '../../src/failure/breaker.js';
import { withDeadline } from '../../src/failure/deadline.js';
import type { StoreEvent } from '../../src/failure/events.js';
import type { Fault, Outcome } from '../../src/index.js';
import { type FlakyStore, flakyStore, flakySyncStore } from './flaky-store.js';
import { asked, charge, consume, faulty, perMinute } from './steps.js';

const one = consume(charge(perMinute(1_000)));

function broken(
  options: { readonly failures?: number; readonly probeAfterMs?: number } = {},
  store: FlakyStore = flakyStore(),
) {
  const events: StoreEvent[] = [];
  const clock = { ms: 5_000 };
  const breaker = withBreaker(store, { ...options, now: () => clock.ms, onEvent: (event) => events.push(event) });
  const ask = async () => (await breaker.run([one]))[0];
  const askOften = async (times: number) => {
    for (let i = 0; i < times; i += 1) await ask();
  };
  return { store, events, clock, breaker, ask, askOften };
}

const down = { does: 'fail', fault: 'unreachable' } as const;

describe('a breaker', () => {
  it('lets a healthy store alone, with the same traits and the same forms', async () => {
    const { store, breaker, ask, events } = broken();
    expect(asked(await ask()).allowed).toBe(true);
    expect(breaker.traits).toBe(store.traits);
    expect('runSync' in breaker).toBe(false);
    expect('runSync' in withBreaker(flakySyncStore())).toBe(true);
    expect(events).toEqual([]);
  });

  it.each<[Fault]>([['unreachable'], ['unknown-outcome']])('stops asking after 5 %s faults in a row', async (fault) => {
    const { store, ask, askOften, events } = broken();
    const cause = new Error('ECONNREFUSED');
    store.behaviour = { does: 'fail', fault, cause };
    await askOften(4);
    expect(events).toEqual([]);
    await ask();
    expect(events).toEqual([{ type: 'breaker-opened', failures: 5, probeAfterMs: 1_000, cause }]);
    const outcome = faulty(await ask());
    expect(outcome).toMatchObject({ fault: 'unreachable', retryAfterMs: 1_000 });
    expect(outcome.cause).toMatchObject({
      message: 'the store failed 5 times in a row and is asked again every 1000 ms',
      cause,
    });
    expect(store.calls).toHaveLength(5);
  });

  it('an answer in between starts the count again', async () => {
    const { store, ask, askOften, events } = broken({ failures: 3 });
    for (let i = 0; i < 5; i += 1) {
      store.behaviour = down;
      await askOften(2);
      store.behaviour = { does: 'work' };
      await ask();
    }
    expect(events).toEqual([]);
    expect(store.calls).toHaveLength(15);
  });

  it.each<[Fault]>([['refused'], ['corrupt']])('a store that answers %s is alive', async (fault) => {
    const { store, askOften, events } = broken({ failures: 2 });
    store.behaviour = { does: 'fail', fault };
    await askOften(10);
    expect(events).toEqual([]);
    expect(store.calls).toHaveLength(10);
  });

  it('a call of several steps is dead when all of them are', async () => {
    const { store, breaker, events } = broken({ failures: 1 });
    store.behaviour = {
      does: 'answer',
      outcomes: ([first]) => [{ ok: false, fault: 'unreachable', cause: 'x' }, first],
    };
    await breaker.run([one, one]);
    expect(events).toEqual([]);
    store.behaviour = down;
    await breaker.run([one, one]);
    expect(events).toHaveLength(1);
    expect((await breaker.run([one, one])).map((outcome) => faulty(outcome).retryAfterMs)).toEqual([1_000, 1_000]);
  });

  it('tells each caller how long until the next probe, in whole ms, rounded up', async () => {
    const { store, clock, ask, askOften } = broken({ failures: 1 });
    store.behaviour = down;
    await askOften(1);
    clock.ms += 250.4;
    expect(faulty(await ask()).retryAfterMs).toBe(750);
    clock.ms += 749;
    expect(faulty(await ask()).retryAfterMs).toBe(1);
    expect(store.calls).toHaveLength(1);
  });

  it('asks the store with one call once the interval is over, and with the next one an interval later', async () => {
    const { store, clock, askOften } = broken({ failures: 1, probeAfterMs: 500 });
    store.behaviour = down;
    await askOften(1);
    clock.ms += 499;
    await askOften(10);
    expect(store.calls).toHaveLength(1);
    clock.ms += 1;
    await askOften(10);
    expect(store.calls).toHaveLength(2);
    clock.ms += 499;
    await askOften(10);
    expect(store.calls).toHaveLength(2);
    clock.ms += 1;
    await askOften(10);
    expect(store.calls).toHaveLength(3);
  });

  it('has one probe at a time: the others are answered at once while it is out', async () => {
    const { store, clock, breaker, ask, askOften, events } = broken({ failures: 1 });
    store.behaviour = down;
    await askOften(1);
    clock.ms += 1_000;
    store.behaviour = { does: 'hold' };
    const probe = ask();
    const others = await Promise.all(Array.from({ length: 20 }, () => breaker.run([one])));
    expect(others.map(([outcome]) => faulty(outcome).fault)).toEqual(Array(20).fill('unreachable'));
    clock.ms += 5_000;
    expect(faulty(await ask()).retryAfterMs).toBe(1_000);
    expect(store.calls).toHaveLength(2);
    store.release();
    expect(asked(await probe).allowed).toBe(true);
    expect(events.at(-1)).toEqual({ type: 'breaker-closed', openMs: 6_000 });
  });

  it('closes with the first answer, which counts as any other', async () => {
    const { store, clock, ask, askOften, events } = broken();
    store.behaviour = down;
    await askOften(5);
    store.behaviour = { does: 'work' };
    clock.ms += 1_000;
    expect(asked(await ask()).verdicts[0]?.remaining).toBe(999);
    expect(events.map(({ type }) => type)).toEqual(['breaker-opened', 'breaker-closed']);
    store.behaviour = down;
    await askOften(4);
    expect(events).toHaveLength(2);
  });

  it('a probe that finds a read-only store closes it too', async () => {
    const { store, clock, ask, askOften, events } = broken({ failures: 1 });
    store.behaviour = down;
    await askOften(1);
    clock.ms += 1_000;
    store.behaviour = { does: 'fail', fault: 'refused' };
    expect(faulty(await ask()).fault).toBe('refused');
    expect(events.map(({ type }) => type)).toEqual(['breaker-opened', 'breaker-closed']);
  });

  it('is asked again within one interval after the store is back, under steady traffic', async () => {
    const { store, clock, ask } = broken();
    store.behaviour = down;
    for (let i = 0; i < 237; i += 1) {
      clock.ms += 10;
      await ask();
    }
    store.behaviour = { does: 'work' };
    const backAt = clock.ms;
    while (!(await ask())?.ok) clock.ms += 10;
    expect(clock.ms - backAt).toBeLessThanOrEqual(1_000);
  });

  it('what was asked before it opened and closed again does not open it when it fails afterwards', async () => {
    const answers: ((outcomes: readonly Outcome[]) => void)[] = [];
    const byHand = { ...flakyStore(), run: () => new Promise<readonly Outcome[]>((resolve) => answers.push(resolve)) };
    const clock = { ms: 0 };
    const events: StoreEvent[] = [];
    const breaker = withBreaker(byHand, {
      failures: 2,
      now: () => clock.ms,
      onEvent: (event) => events.push(event),
    });
    const dead: readonly Outcome[] = [{ ok: false, fault: 'unknown-outcome', cause: 'no answer' }];
    const asking = Array.from({ length: 6 }, () => breaker.run([one]));
    for (const answer of answers.splice(0, 3)) answer(dead);
    await Promise.all(asking.slice(0, 3));
    expect(events).toMatchObject([{ type: 'breaker-opened', failures: 2 }]);
    clock.ms += 1_000;
    const probe = breaker.run([one]);
    answers.pop()?.([{ ok: true, op: 'consume', now: 1, allowed: true, verdicts: [{} as never] }]);
    await probe;
    expect(events.at(-1)?.type).toBe('breaker-closed');
    for (const answer of answers.splice(0)) answer(dead);
    await Promise.all(asking);
    expect(events).toHaveLength(2);
  });

  it('a mistake of the caller says nothing about the store, and the next call probes in its place', async () => {
    const { store, clock, breaker, ask, askOften } = broken({ failures: 2 });
    const mistake = new LimiterError('ERR_LIMITER_CROSS_SLOT', 'the ledgers of a step must lie in one slot, got two');
    store.behaviour = { does: 'reject', error: mistake };
    for (let i = 0; i < 5; i += 1) await expect(breaker.run([one])).rejects.toBe(mistake);
    store.behaviour = down;
    await askOften(2);
    clock.ms += 1_000;
    store.behaviour = { does: 'reject', error: mistake };
    await expect(breaker.run([one])).rejects.toBe(mistake);
    store.behaviour = { does: 'work' };
    expect(asked(await ask()).allowed).toBe(true);
  });

  it('a probe that is never answered is lost after a minute', async () => {
    const { store, clock, ask, askOften } = broken({ failures: 1 });
    store.behaviour = down;
    await askOften(1);
    clock.ms += 1_000;
    store.behaviour = { does: 'hang' };
    void ask();
    store.behaviour = { does: 'work' };
    clock.ms += 59_999;
    expect(faulty(await ask()).fault).toBe('unreachable');
    clock.ms += 1;
    expect(asked(await ask()).allowed).toBe(true);
  });

  it('a clock that is set back does not keep it open', async () => {
    const { store, clock, ask, askOften } = broken({ failures: 1 });
    store.behaviour = down;
    await askOften(1);
    store.behaviour = { does: 'work' };
    clock.ms -= 3_600_000;
    expect(asked(await ask()).allowed).toBe(true);
  });

  it('passes a question without steps through, which is no probe', async () => {
    const { store, clock, breaker, ask, askOften } = broken({ failures: 1 });
    store.behaviour = down;
    await askOften(1);
    clock.ms += 1_000;
    store.behaviour = { does: 'work' };
    expect(await breaker.run([])).toEqual([]);
    expect(asked(await ask()).allowed).toBe(true);
  });

  it('takes throws, rejections and nonsense for unknown outcomes', async () => {
    const { store, ask, events } = broken({ failures: 3 });
    for (const behaviour of [
      { does: 'throw', error: new Error('not connected') },
      { does: 'reject', error: new Error('ECONNRESET') },
      { does: 'answer', outcomes: (): unknown => [] },
    ] as const) {
      store.behaviour = behaviour;
      expect(faulty(await ask()).fault).toBe('unknown-outcome');
    }
    expect(events).toHaveLength(1);
  });

  it('serves the synchronous form with the same state', async () => {
    const store = flakySyncStore();
    const clock = { ms: 0 };
    const breaker = withBreaker(store, { failures: 2, now: () => clock.ms });
    store.behaviour = down;
    faulty(breaker.runSync(one));
    faulty((await breaker.run([one]))[0]);
    expect(faulty(breaker.runSync(one)).retryAfterMs).toBe(1_000);
    expect(store.calls).toHaveLength(2);
    clock.ms += 1_000;
    const mistake = new LimiterError('ERR_LIMITER_CROSS_SLOT', 'the ledgers of a step must lie in one slot, got two');
    store.behaviour = { does: 'throw', error: mistake };
    expect(() => breaker.runSync(one)).toThrow(mistake);
    store.behaviour = { does: 'work' };
    expect(asked(breaker.runSync(one)).allowed).toBe(true);
  });

  it('is told to a watcher whose errors stay its own', async () => {
    const onEvent = vi.fn(() => {
      throw new Error('the watcher fell asleep');
    });
    const store = flakyStore();
    const breaker = withBreaker(store, { failures: 1, onEvent });
    store.behaviour = down;
    expect(faulty((await breaker.run([one]))[0]).fault).toBe('unreachable');
    expect(onEvent).toHaveBeenCalledOnce();
  });

  it('around a deadline: a hanging store costs 5 timeouts, then no wait at all', async () => {
    const store = flakyStore();
    store.behaviour = { does: 'hang' };
    const bounded = withBreaker(withDeadline(store, { timeoutMs: 20 }));
    for (let i = 0; i < 5; i += 1) expect(faulty((await bounded.run([one]))[0]).fault).toBe('unknown-outcome');
    const startedAt = performance.now();
    for (let i = 0; i < 100; i += 1) expect(faulty((await bounded.run([one]))[0]).fault).toBe('unreachable');
    expect(performance.now() - startedAt).toBeLessThan(100 * 20);
    expect(store.calls).toHaveLength(5);
  });

  it.each([
    [{ failures: 0 }],
    [{ failures: 1.5 }],
    [{ probeAfterMs: 0 }],
    [{ probeAfterMs: Number.POSITIVE_INFINITY }],
  ])('refuses %o', (options) => {
    expect(() => withBreaker(flakyStore(), options)).toThrow(expect.objectContaining({ code: 'ERR_LIMITER_NUMBER' }));
  });
});
