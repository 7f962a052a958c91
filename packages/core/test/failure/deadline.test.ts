import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LimiterError } from '../../src/errors.js';
import { withDeadline } from '../../src/failure/deadline.js';
import type { LateAnswerEvent } from '../../src/failure/events.js';
import { withFallback } from '../../src/failure/fallback.js';
import type { AdjustStep, Failure, Outcome, Step } from '../../src/index.js';
import { flakyStore, flakySyncStore } from './flaky-store.js';
import { naiveStore } from './naive-store.js';
import { watchStandstill } from './standstill.js';
import { asked, charge, consume, faulty, peek, perMinute, bucket as tokenBucket, window } from './steps.js';

const rule = perMinute(10);
const free = (store: ReturnType<typeof flakyStore>, of = rule): number | undefined =>
  asked(store.behind.runSync(peek(charge(of)))).verdicts[0]?.remaining;
/** Real time: long enough for what was set in motion, whatever the machine does. */
const settle = (ms = 20): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function closedGate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

describe('a healthy store is not noticed', () => {
  it('answers what the store answers, with the same traits and the same forms', async () => {
    const store = flakySyncStore();
    const bounded = withDeadline(store, { timeoutMs: 50 });
    expect(bounded.traits).toBe(store.traits);
    expect(asked((await bounded.run([consume(charge(rule, 3))]))[0]).verdicts[0]?.remaining).toBe(7);
    expect(asked(bounded.runSync(consume(charge(rule, 3)))).verdicts[0]?.remaining).toBe(4);
  });

  it('has runSync if and only if the store has it', () => {
    expect('runSync' in withDeadline(flakyStore(), { timeoutMs: 50 })).toBe(false);
    expect('runSync' in withDeadline(flakySyncStore(), { timeoutMs: 50 })).toBe(true);
  });

  it('closes what the store opened', async () => {
    const close = vi.fn(async () => {});
    await withDeadline({ ...flakyStore(), close }, { timeoutMs: 50 }).close?.();
    expect(close).toHaveBeenCalledOnce();
    expect('close' in withDeadline(flakyStore(), { timeoutMs: 50 })).toBe(false);
  });

  it('passes a question without steps through', async () => {
    expect(await withDeadline(flakyStore(), { timeoutMs: 50 }).run([])).toEqual([]);
  });
});

describe('whatever the store does, the caller is answered in time', () => {
  it('a store that never answers is an unknown outcome after timeoutMs', async () => {
    const store = flakyStore();
    store.behaviour = { does: 'hang' };
    const standstill = watchStandstill();
    const startedAt = performance.now();
    const outcomes = await withDeadline(store, { timeoutMs: 60 }).run([consume(charge(rule)), peek(charge(rule))]);
    const tookMs = performance.now() - startedAt;
    expect(outcomes.map((outcome) => faulty(outcome).fault)).toEqual(['unknown-outcome', 'unknown-outcome']);
    expect(faulty(outcomes[0]).cause).toMatchObject({
      name: 'TimeoutError',
      message: 'the store did not answer within 60 ms',
    });
    expect(tookMs).toBeGreaterThanOrEqual(59);
    expect(tookMs).toBeLessThan(110 + standstill());
  });

  it('256 calls that hang at once are each answered within the deadline and 50 ms', async () => {
    const store = flakyStore();
    store.behaviour = { does: 'hang' };
    const bounded = withDeadline(store, { timeoutMs: 100 });
    const standstill = watchStandstill();
    const tookMs = await Promise.all(
      Array.from({ length: 256 }, async (_, i) => {
        await settle(i % 16);
        const startedAt = performance.now();
        faulty((await bounded.run([consume(charge(rule))]))[0]);
        return performance.now() - startedAt;
      }),
    );
    expect(Math.min(...tookMs)).toBeGreaterThanOrEqual(98);
    expect(Math.max(...tookMs)).toBeLessThan(150 + standstill());
  });

  it('a step that the store never sent is unreachable: it did not run and never will', async () => {
    const store = flakyStore();
    store.behaviour = { does: 'hang', saysUnsent: true };
    const [outcome] = await withDeadline(store, { timeoutMs: 20 }).run([consume(charge(rule))]);
    expect(faulty(outcome).fault).toBe('unreachable');
    expect(store.calls[0]?.signal?.aborted).toBe(true);
  });

  it('a call that is answered in time is never aborted, even when another of the same instant hangs', async () => {
    const store = flakyStore();
    const bounded = withDeadline(store, { timeoutMs: 20 });
    store.behaviour = { does: 'hang' };
    const hanging = bounded.run([consume(charge(rule))]);
    store.behaviour = { does: 'work' };
    asked((await bounded.run([consume(charge(rule))]))[0]);
    faulty((await hanging)[0]);
    expect(free(store)).toBe(9);
  });

  it('a signal is shared by at most 10 calls of one instant: Node warns of more listeners than that', async () => {
    const store = flakyStore();
    const bounded = withDeadline(store, { timeoutMs: 250, now: () => 0 });
    await Promise.all(Array.from({ length: 100 }, () => bounded.run([consume(charge(rule))])));
    const calls = new Map<AbortSignal | undefined, number>();
    for (const { signal } of store.calls) calls.set(signal, (calls.get(signal) ?? 0) + 1);
    expect([...calls.values()]).toEqual(Array(10).fill(10));
  });

  it('tells the store until when a step may be carried out, on the clock of performance.now()', async () => {
    const store = flakyStore();
    const before = performance.now();
    await withDeadline(store, { timeoutMs: 250 }).run([consume(charge(rule))]);
    await withDeadline(store, { timeoutMs: 250, now: () => 0 }).run([consume(charge(rule))]);
    // Of two deadlines the earlier one counts, whichever is outside.
    await withDeadline(withDeadline(store, { timeoutMs: 250 }), { timeoutMs: 999 }).run([consume(charge(rule))]);
    await withDeadline(withDeadline(store, { timeoutMs: 999 }), { timeoutMs: 250 }).run([consume(charge(rule))]);
    const own = new AbortController();
    await withDeadline(store, { timeoutMs: 250 }).run([consume(charge(rule))], own.signal);
    const after = performance.now();
    expect(store.calls).toHaveLength(5);
    for (const { signal } of store.calls) {
      expect(signal?.deadlineAt).toBeGreaterThanOrEqual(before + 250);
      expect(signal?.deadlineAt).toBeLessThanOrEqual(after + 250);
    }
  });

  it("a caller's own signal reaches the store too", async () => {
    const store = flakyStore();
    store.behaviour = { does: 'hang', saysUnsent: true };
    const controller = new AbortController();
    const answer = withDeadline(store, { timeoutMs: 60_000 }).run([consume(charge(rule))], controller.signal);
    controller.abort();
    expect(faulty((await answer)[0]).fault).toBe('unreachable');
  });

  it.each([['throw'], ['reject']] as const)(
    'a store that %ss gives an unknown outcome with the cause',
    async (does) => {
      const store = flakyStore();
      const error = new TypeError('cannot read properties of undefined');
      store.behaviour = { does, error };
      const outcome = faulty((await withDeadline(store, { timeoutMs: 50 }).run([consume(charge(rule))]))[0]);
      expect(outcome).toEqual({ ok: false, fault: 'unknown-outcome', cause: error });
    },
  );

  it.each([['throw'], ['reject']] as const)('a mistake of the caller that a store %ss passes through', async (does) => {
    const store = flakyStore();
    const error = new LimiterError('ERR_LIMITER_CROSS_SLOT', 'the ledgers of a step must lie in one slot, got two');
    store.behaviour = { does, error };
    await expect(withDeadline(store, { timeoutMs: 50 }).run([consume(charge(rule))])).rejects.toBe(error);
  });

  it('a synchronous throw is a fault, and a mistake passes through', () => {
    const store = flakySyncStore();
    const bounded = withDeadline(store, { timeoutMs: 50 });
    store.behaviour = { does: 'throw', error: 'no error at all' };
    expect(faulty(bounded.runSync(consume(charge(rule))))).toEqual({
      ok: false,
      fault: 'unknown-outcome',
      cause: 'no error at all',
    });
    const mistake = new LimiterError('ERR_LIMITER_CROSS_SLOT', 'the ledgers of a step must lie in one slot, got two');
    store.behaviour = { does: 'throw', error: mistake };
    expect(() => bounded.runSync(consume(charge(rule)))).toThrow(mistake);
  });

  const nonsense: readonly [string, (outcomes: readonly Outcome[]) => unknown][] = [
    ['too few outcomes', (outcomes) => outcomes.slice(1)],
    ['too many outcomes', (outcomes) => [...outcomes, outcomes[0]]],
    ['no list', () => 'OK'],
    ['nothing', () => undefined],
    ['nulls', (outcomes) => outcomes.map(() => null)],
    ['numbers', (outcomes) => outcomes.map(() => 1)],
    ['objects that say nothing', (outcomes) => outcomes.map(() => ({}))],
    ['faults without a name', (outcomes) => outcomes.map(() => ({ ok: false }))],
    ['answers to another operation', (outcomes) => outcomes.map(() => ({ ok: true, op: 'reset', now: 1 }))],
    ['too few verdicts', (outcomes) => outcomes.map((outcome) => ({ ...outcome, verdicts: [] }))],
    ['no verdicts', (outcomes) => outcomes.map((outcome) => ({ ...outcome, verdicts: undefined }))],
  ];
  it.each(nonsense)('a store that answers %s gives unknown outcomes', async (_, outcomes) => {
    const store = flakyStore();
    store.behaviour = { does: 'answer', outcomes };
    const answer = await withDeadline(store, { timeoutMs: 50 }).run([consume(charge(rule)), consume(charge(rule))]);
    expect(answer.map((outcome) => faulty(outcome).fault)).toEqual(['unknown-outcome', 'unknown-outcome']);
  });

  it('one nonsensical outcome spoils only its own step', async () => {
    const store = flakyStore();
    store.behaviour = { does: 'answer', outcomes: ([first]) => [first, { ok: true, op: 'adjust' }] };
    const [first, second] = await withDeadline(store, { timeoutMs: 50 }).run([
      consume(charge(rule)),
      consume(charge(rule)),
    ]);
    expect(asked(first).allowed).toBe(true);
    expect(faulty(second).fault).toBe('unknown-outcome');
  });

  it('a synchronous answer that is nonsense is an unknown outcome', () => {
    const store = flakySyncStore();
    store.behaviour = { does: 'answer', outcomes: () => ({ ok: true, op: 'reset', now: 1 }) };
    expect(faulty(withDeadline(store, { timeoutMs: 50 }).runSync(consume(charge(rule)))).fault).toBe('unknown-outcome');
  });

  it.each([0, -1, 0.5, Number.NaN, 2 ** 31, '50'])('refuses %s as timeoutMs', (timeoutMs) => {
    expect(() => withDeadline(flakyStore(), { timeoutMs: timeoutMs as number })).toThrow(
      expect.objectContaining({ code: 'ERR_LIMITER_NUMBER' }),
    );
  });
});

describe('a late answer', () => {
  /** A consume whose answer comes after the deadline; what the store holds then, and what was told. */
  async function late(
    word: Failure | undefined,
    of = rule,
    cost = 3,
  ): Promise<{ readonly store: ReturnType<typeof flakyStore>; readonly events: readonly LateAnswerEvent[] }> {
    const events: LateAnswerEvent[] = [];
    const store = flakyStore();
    const bounded = withDeadline(store, { timeoutMs: 10, onEvent: (event) => events.push(event) });
    store.behaviour = { does: 'hold' };
    faulty((await bounded.run([consume(charge(of, cost), word)]))[0]);
    expect(events).toEqual([]);
    store.behaviour = { does: 'work' };
    store.release();
    await settle();
    return { store, events };
  }

  it.each([[undefined], ['allow']] as const)(
    'keeps the charge when the word is %s: the call went ahead',
    async (word) => {
      const { store, events } = await late(word);
      expect(free(store)).toBe(7);
      expect(events).toMatchObject([{ type: 'late-answer', result: 'kept', count: 1 }]);
      expect(store.calls).toHaveLength(1);
    },
  );

  it.each([['deny'], ['throw'], ['fallback']] as const)('gives the charge back when the word is %s', async (word) => {
    const { store, events } = await late(word);
    expect(free(store)).toBe(10);
    expect(events).toMatchObject([{ type: 'late-answer', result: 'given-back', count: 1 }]);
    expect(events[0]?.afterMs).toBeGreaterThanOrEqual(9);
  });

  it.each([
    ['fixed window', window(10)],
    ['token bucket', tokenBucket(10, 1)],
  ])('gives back to a %s as well', async (_, of) => {
    const { store } = await late('deny', of);
    expect(free(store, of)).toBe(10);
  });

  it('that refused has nothing to give back', async () => {
    const { store, events } = await late('deny', rule, 11);
    expect(store.calls).toHaveLength(1);
    expect(events).toEqual([]);
  });

  it.each([['allow'], ['deny']] as const)("that admitted without a charge is nobody's business (%s)", async (word) => {
    const { store, events } = await late(word, rule, 0);
    expect(store.calls).toHaveLength(1);
    expect(events).toEqual([]);
  });

  it('that a fallback inside gave is given back to the fallback', async () => {
    const store = flakyStore();
    const fallback = naiveStore({ fails: 'never' });
    const gate = closedGate();
    const slow = {
      ...store,
      run: async (...call: Parameters<typeof store.run>) => {
        await gate.opened;
        return store.run(...call);
      },
    };
    store.behaviour = { does: 'fail', fault: 'unreachable' };
    const bounded = withDeadline(withFallback(slow, { store: fallback, share: 1 }), { timeoutMs: 10 });
    faulty((await bounded.run([consume(charge(rule, 3), 'fallback')]))[0]);
    gate.open();
    await settle();
    expect(asked(fallback.runSync(peek(charge(rule)))).verdicts[0]?.remaining).toBe(10);
    expect(fallback.decided).toBe(3);
    expect(store.calls).toHaveLength(1);
  });

  it('gives back once, by the marks of what was charged and of nothing else', async () => {
    const store = flakyStore();
    const bounded = withDeadline(store, { timeoutMs: 10 });
    store.behaviour = { does: 'hold' };
    const shadow = charge(window(2), 3, { enforce: false });
    const untouched = charge(tokenBucket(5), 0);
    await bounded.run([
      consume([charge(rule, 3), shadow, untouched], 'deny'),
      consume(charge(rule, 2), 'allow'),
      peek(charge(rule), 'deny'),
    ]);
    store.behaviour = { does: 'work' };
    store.release();
    await settle();
    const gaveBack = store.calls.slice(1).flatMap(({ steps }) => steps) as readonly AdjustStep[];
    expect(gaveBack).toHaveLength(1);
    expect(gaveBack[0]?.adjustments).toMatchObject([
      { rule, charged: 3, change: 'give-back', amount: 3, mark: { at: 1_000_000, position: 0 } },
    ]);
    expect(free(store)).toBe(8);
  });

  it.each([
    ['fails', { does: 'fail', fault: 'unreachable' }],
    ['throws', { does: 'throw', error: new Error('gone') }],
    ['is a mistake', { does: 'reject', error: new LimiterError('ERR_LIMITER_CLOSED', 'closed') }],
    ['hangs', { does: 'hang' }],
  ] as const)('that cannot be given back because the store %s is counted, not repeated', async (_, behaviour) => {
    const events: LateAnswerEvent[] = [];
    const store = flakyStore();
    const bounded = withDeadline(store, { timeoutMs: 10, onEvent: (event) => events.push(event) });
    store.behaviour = { does: 'hold' };
    await bounded.run([consume(charge(rule), 'deny'), consume(charge(rule), 'throw')]);
    store.behaviour = behaviour;
    store.release();
    await settle(60);
    expect(events).toMatchObject([{ type: 'late-answer', result: 'not-given-back', count: 2 }]);
    expect(store.calls).toHaveLength(2);
  });

  it('to an adjust or a reset stands: it cannot be taken back', async () => {
    const store = flakyStore();
    const mark = asked(store.behind.runSync(consume(charge(rule, 3)))).verdicts[0]?.mark;
    const { ledger } = charge(rule);
    store.behaviour = { does: 'hold' };
    const outcomes = await withDeadline(store, { timeoutMs: 10 }).run([
      { op: 'adjust', adjustments: [{ ledger, rule, mark, charged: 3, change: 'give-back', amount: 1 }] },
      { op: 'reset', ledgers: [] },
    ]);
    expect(outcomes.map((outcome) => faulty(outcome).fault)).toEqual(['unknown-outcome', 'unknown-outcome']);
    store.release();
    await settle();
    expect(store.calls).toHaveLength(1);
    expect(free(store)).toBe(8);
  });

  it.each([
    ['a mistake', { does: 'reject', error: new LimiterError('ERR_LIMITER_CLOSED', 'closed') }],
    ['nonsense', { does: 'answer', outcomes: (): unknown => 'OK' }],
    [
      'verdicts that are none',
      { does: 'answer', outcomes: (): unknown => [{ ok: true, op: 'consume', allowed: true, verdicts: [null] }] },
    ],
  ] as const)('that is %s is dropped without a word', async (_, behaviour) => {
    const events: LateAnswerEvent[] = [];
    const store = flakyStore();
    const gate = closedGate();
    const slow = {
      ...store,
      run: async (...call: Parameters<typeof store.run>) => {
        await gate.opened;
        return store.run(...call);
      },
    };
    store.behaviour = behaviour;
    const bounded = withDeadline(slow, { timeoutMs: 10, onEvent: (event) => events.push(event) });
    faulty((await bounded.run([consume(charge(rule), 'deny')]))[0]);
    gate.open();
    await settle();
    expect(events).toEqual([]);
  });

  it('is told to a watcher whose errors stay its own', async () => {
    const onEvent = vi.fn(() => {
      throw new Error('the watcher fell asleep');
    });
    const store = flakyStore();
    store.behaviour = { does: 'hold' };
    await withDeadline(store, { timeoutMs: 10, onEvent }).run([consume(charge(rule), 'deny')]);
    store.behaviour = { does: 'work' };
    store.release();
    await settle();
    expect(onEvent).toHaveBeenCalledOnce();
    expect(free(store)).toBe(10);
  });
});

describe('one timer', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('serves any number of calls, and none is left when all are answered', async () => {
    const store = flakyStore();
    const bounded = withDeadline(store, { timeoutMs: 250 });
    await Promise.all(Array.from({ length: 1_000 }, () => bounded.run([consume(charge(rule))])));
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(251);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('answers each call at its own time', async () => {
    const store = flakyStore();
    store.behaviour = { does: 'hang' };
    const bounded = withDeadline(store, { timeoutMs: 250 });
    const tookMs: number[] = [];
    for (const pauseMs of [0, 100, 1, 148]) {
      await vi.advanceTimersByTimeAsync(pauseMs);
      const startedAt = performance.now();
      void bounded.run([consume(charge(rule))]).then(() => tookMs.push(performance.now() - startedAt));
    }
    await vi.advanceTimersByTimeAsync(600);
    expect(tookMs).toHaveLength(4);
    expect(Math.min(...tookMs)).toBeGreaterThanOrEqual(249);
    // The two turns of the loop count as 1 ms each on this clock.
    expect(Math.max(...tookMs)).toBeLessThanOrEqual(253);
    expect(vi.getTimerCount()).toBe(0);
  });

  const runtimes: readonly (readonly [string, () => void])[] = [
    [
      "cannot be unref'ed",
      () => {
        const faked = globalThis.setTimeout;
        vi.stubGlobal('setTimeout', (...args: Parameters<typeof setTimeout>): number => Number(faked(...args)));
      },
    ],
    ['belong to a request (workerd)', () => vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' })],
  ];
  it.each(runtimes)(
    'is set for each call where timers %s, serves that call alone, and goes with the answer',
    async (_, enter) => {
      enter();
      try {
        const store = flakyStore();
        const bounded = withDeadline(store, { timeoutMs: 250 });
        store.behaviour = { does: 'hang' };
        const hanging = [bounded.run([consume(charge(rule))]), bounded.run([consume(charge(rule))])];
        expect(vi.getTimerCount()).toBe(2);
        expect(store.calls[0]?.signal).not.toBe(store.calls[1]?.signal);
        store.behaviour = { does: 'work' };
        asked((await bounded.run([consume(charge(rule))]))[0]);
        expect(vi.getTimerCount()).toBe(2);
        // The first call's timer fires; the second is as overdue, but its timer is another request's.
        vi.advanceTimersToNextTimer();
        vi.advanceTimersToNextTimer();
        await vi.advanceTimersByTimeAsync(10);
        for (const answer of hanging) expect(faulty((await answer)[0]).fault).toBe('unknown-outcome');
        expect(vi.getTimerCount()).toBe(0);
      } finally {
        vi.unstubAllGlobals();
      }
    },
  );

  it('that belongs to one call never gives up another', async () => {
    vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
    const timers: (() => void)[] = [];
    vi.stubGlobal('setTimeout', (callback: () => void): number => timers.push(callback));
    vi.stubGlobal('setImmediate', (callback: () => void): void => callback());
    try {
      const store = flakyStore();
      store.behaviour = { does: 'hang' };
      const bounded = withDeadline(store, { timeoutMs: 250, now: () => 0 });
      const answered: string[] = [];
      void bounded.run([consume(charge(rule))]).then(() => answered.push('first'));
      void bounded.run([consume(charge(rule))]).then(() => answered.push('second'));
      timers[1]?.();
      await Promise.resolve();
      expect(answered).toEqual(['second']);
      expect(store.calls.map(({ signal }) => signal?.aborted)).toEqual([false, true]);
    } finally {
      vi.unstubAllGlobals();
    }
  });
});

describe('a stalled event loop', () => {
  const stall = (ms: number): void => {
    const until = performance.now() + ms;
    while (performance.now() < until);
  };

  it('reads the answers that have arrived before it gives up', async () => {
    const { createServer, connect } = await import('node:net');
    let echoed = (): void => {};
    const sent = new Promise<void>((resolve) => {
      echoed = resolve;
    });
    const server = createServer((socket) => socket.on('data', (data) => socket.write(data, () => echoed())));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const socket = connect((server.address() as { port: number }).port, '127.0.0.1');
    await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
    try {
      const store = flakyStore();
      // As with fetch, an abort loses the answer. And the answer is read in steps, as a body is.
      const overTheWire = {
        ...store,
        run: (steps: readonly Step[], signal?: AbortSignal) =>
          new Promise<readonly Outcome[]>((resolve, reject) => {
            signal?.addEventListener('abort', () => reject(new Error('aborted')));
            const answer = (): void => resolve(store.run(steps, signal));
            socket.once('data', () => setImmediate(() => setImmediate(answer)));
            socket.write('x');
          }),
      };
      const bounded = withDeadline(overTheWire, { timeoutMs: 100 });
      const answer = bounded.run([consume(charge(rule))]);
      await sent;
      stall(400);
      expect(asked((await answer)[0]).allowed).toBe(true);
    } finally {
      socket.destroy();
      server.close();
    }
  });

  it('still gives up when nothing has arrived', async () => {
    const store = flakyStore();
    store.behaviour = { does: 'hang' };
    const answer = withDeadline(store, { timeoutMs: 50 }).run([consume(charge(rule))]);
    stall(200);
    expect(faulty((await answer)[0]).fault).toBe('unknown-outcome');
  });
});
