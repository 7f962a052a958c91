/** A limiter's question to a store that is asked by calls: the deadline, told to the store without a signal, and who is told what. */
import { describe, expect, it } from 'vitest';
import { LimiterError } from '../../src/errors.js';
import type { StoreEvent } from '../../src/failure/events.js';
import { protect } from '../../src/failure/protect.js';
import type { Asking, AskingStore, Failure, Outcome, Step } from '../../src/index.js';
import { askedByCalls } from './flaky-store.js';
import { naiveStore } from './naive-store.js';
import { watchStandstill } from './standstill.js';
import { asked, charge, consume, faulty, peek, perMinute } from './steps.js';

const rule = perMinute(10);
const step = (word: Failure = 'deny', cost = 3): Step => consume(charge(rule, cost), word);
const settle = (ms = 20): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A store whose calls the test answers itself. */
function deskStore() {
  const behind = naiveStore();
  const calls: Asking[] = [];
  const store: AskingStore = {
    traits: { ...behind.traits, sync: false },
    run: async (steps) => steps.map((one) => behind.runSync(one)),
    ask: (asking) => void calls.push(asking),
  };
  const decide = (asking: Asking | undefined): Outcome => behind.runSync(asking?.step as Step);
  const free = (): number | undefined => asked(behind.runSync(peek(charge(rule)))).verdicts[0]?.remaining;
  return { store, calls, decide, free };
}

function consulted(store: AskingStore, timeoutMs = 20, now?: () => number) {
  const events: StoreEvent[] = [];
  const { consult } = protect(store, { name: 'api', timeoutMs, now, onEvent: (event) => events.push(event) });
  if (consult === undefined) throw new Error('the store can be asked by calls');
  const told: Outcome[] = [];
  const failed: unknown[] = [];
  const ask = (one: Step = step()): void =>
    consult(
      one,
      (outcome) => void told.push(outcome),
      (error) => void failed.push(error),
    );
  return { consult, ask, told, failed, events };
}

describe('a store that is asked by calls', () => {
  it('is asked by `ask` alone, and its answer is told at once', () => {
    const { store, calls, decide } = deskStore();
    const { ask, told } = consulted(store);
    ask();
    expect(told).toEqual([]);
    expect(calls).toHaveLength(1);
    calls[0]?.answer(decide(calls[0]));
    expect(asked(told[0]).verdicts[0]?.remaining).toBe(7);
  });

  it('hears until when a step may be carried out, on the clock of performance.now()', () => {
    const { store, calls } = deskStore();
    const before = performance.now();
    consulted(store, 250).ask();
    consulted(store, 250, () => 0).ask();
    const after = performance.now();
    for (const { deadlineAt } of calls) {
      expect(deadlineAt).toBeGreaterThanOrEqual(before + 250);
      expect(deadlineAt).toBeLessThanOrEqual(after + 250);
    }
  });

  it('is told once when time is up, and can still say that it never sent the step', async () => {
    const { store, calls } = deskStore();
    const { ask, told } = consulted(store);
    ask();
    const call = calls[0] as Asking;
    let aborts = 0;
    call.onAbort = () => {
      aborts += 1;
      expect(call.aborted).toBe(true);
      call.answer({ ok: false, fault: 'unreachable', cause: call.reason });
    };
    expect(call.aborted).toBe(false);
    await settle(60);
    expect(aborts).toBe(1);
    expect(told).toMatchObject([{ ok: false, fault: 'unreachable', cause: { name: 'TimeoutError' } }]);
  });

  it('keeps nobody waiting by what it throws when it is told so', async () => {
    const { store, calls } = deskStore();
    const { ask, told } = consulted(store);
    ask();
    ask();
    const [first, second] = calls as [Asking, Asking];
    first.onAbort = () => {
      throw new TypeError('cannot read properties of undefined');
    };
    second.onAbort = () => second.answer({ ok: false, fault: 'unreachable', cause: second.reason });
    await settle(60);
    expect(told.map((outcome) => faulty(outcome).fault).sort()).toEqual(['unknown-outcome', 'unreachable']);
  });

  it('is not told of a step that it answered when it was told of another', async () => {
    const { store, calls } = deskStore();
    const { ask, told } = consulted(store);
    ask();
    ask();
    const [first, second] = calls as [Asking, Asking];
    const heard: Asking[] = [];
    for (const call of calls) {
      call.onAbort = () => {
        heard.push(call);
        for (const one of [first, second]) one.answer({ ok: false, fault: 'unreachable', cause: call.reason });
      };
    }
    await settle(60);
    expect(heard).toEqual([first]);
    expect([first.aborted, second.aborted]).toEqual([true, false]);
    expect(told).toMatchObject([{ fault: 'unreachable' }, { fault: 'unreachable' }]);
  });

  it('that does not answer is an unknown outcome after the deadline, told once, whatever it answers later', async () => {
    const { store, calls, decide } = deskStore();
    const { ask, told, failed } = consulted(store, 40);
    const standstill = watchStandstill();
    const startedAt = performance.now();
    ask();
    while (told.length === 0) await settle(2);
    const tookMs = performance.now() - startedAt;
    expect(faulty(told[0])).toMatchObject({ fault: 'unknown-outcome', cause: { name: 'TimeoutError' } });
    expect(tookMs).toBeGreaterThanOrEqual(39);
    expect(tookMs).toBeLessThan(90 + standstill());
    calls[0]?.answer(decide(calls[0]));
    await settle();
    expect(told).toHaveLength(1);
    ask();
    while (told.length === 1) await settle(2);
    calls[1]?.fail(new LimiterError('ERR_LIMITER_CLOSED', 'closed'));
    expect([told.length, failed]).toEqual([2, []]);
  });

  it.each([
    ['allow', 7, 'kept'],
    ['deny', 10, 'given-back'],
    ['throw', 10, 'given-back'],
  ] as const)("that admits late under '%s' leaves %i free: the charge is %s", async (word, free, result) => {
    const desk = deskStore();
    const { ask, events } = consulted(desk.store);
    ask(step(word));
    await settle(60);
    desk.calls[0]?.answer(desk.decide(desk.calls[0]));
    await settle();
    expect(desk.free()).toBe(free);
    expect(events).toMatchObject([{ type: 'store-failure' }, { type: 'late-answer', result, count: 1 }]);
  });

  it('that answers twice is believed once', () => {
    const { store, calls, decide } = deskStore();
    const { ask, told, failed } = consulted(store);
    ask();
    const call = calls[0] as Asking;
    call.answer(decide(call));
    call.answer({ ok: false, fault: 'unreachable', cause: 'second thoughts' });
    call.fail(new LimiterError('ERR_LIMITER_CLOSED', 'closed'));
    expect(told).toMatchObject([{ ok: true }]);
    expect(failed).toEqual([]);
  });

  it('that answers in time is not aborted, even when another question of the same instant hangs', async () => {
    const { store, calls, decide } = deskStore();
    const { ask, told } = consulted(store);
    ask();
    ask();
    calls[0]?.answer(decide(calls[0]));
    await settle(60);
    expect(calls.map(({ aborted }) => aborted)).toEqual([false, true]);
    expect(told).toMatchObject([{ ok: true }, { ok: false, fault: 'unknown-outcome' }]);
  });

  it.each([
    ['null', null],
    ['a number', 1],
    ['the answer to another operation', { ok: true, op: 'reset', now: 1 }],
    ['no verdict', { ok: true, op: 'consume', now: 1, allowed: true, verdicts: [] }],
    ['a fault without a name', { ok: false }],
  ])('that answers %s gives an unknown outcome', (_, nonsense) => {
    const { store, calls } = deskStore();
    const { ask, told } = consulted(store);
    ask();
    calls[0]?.answer(nonsense as Outcome);
    expect(faulty(told[0]).fault).toBe('unknown-outcome');
  });

  it('that throws or fails gives an unknown outcome with the cause; a mistake of the caller passes through', () => {
    const mistake = new LimiterError('ERR_LIMITER_CROSS_SLOT', 'the ledgers of a step must lie in one slot, got two');
    const broken = new TypeError('cannot read properties of undefined');
    for (const how of ['throws', 'fails']) {
      for (const error of [mistake, broken]) {
        const ask = (asking: Asking): void => {
          if (how === 'throws') throw error;
          asking.fail(error);
        };
        const one = consulted({ ...deskStore().store, ask });
        one.ask();
        expect(one.failed).toEqual(error === mistake ? [mistake] : []);
        expect(one.told).toEqual(error === mistake ? [] : [{ ok: false, fault: 'unknown-outcome', cause: broken }]);
      }
    }
  });

  it('is left alone by the breaker after five dead answers, and a mistake in the place of the probe is no probe', async () => {
    const store = askedByCalls();
    const clock = { ms: 0 };
    const { ask, told, failed, events } = consulted(store, 20, () => clock.ms);
    store.behaviour = { does: 'fail', fault: 'unreachable' };
    for (let i = 0; i < 5; i += 1) ask();
    await settle(0);
    for (let i = 0; i < 5; i += 1) ask();
    expect(told).toHaveLength(10);
    expect(store.calls).toHaveLength(5);
    clock.ms = 1_000;
    store.behaviour = { does: 'reject', error: new LimiterError('ERR_LIMITER_CLOSED', 'closed') };
    ask();
    await settle(0);
    expect(failed).toHaveLength(1);
    store.behaviour = { does: 'work' };
    ask();
    await settle(0);
    expect(told.at(-1)).toMatchObject({ ok: true });
    expect(events.map(({ type }) => type)).toEqual([
      'store-failure',
      'breaker-opened',
      'breaker-closed',
      'store-recovered',
    ]);
    expect(events.at(-1), 'what the breaker refused has failed, too').toMatchObject({ failures: 10 });
  });

  it('gets what its caller throws while being told nowhere but to the caller', () => {
    const { store, calls, decide } = deskStore();
    const { consult } = consulted(store);
    const failed: unknown[] = [];
    const thrown = new Error('a listener');
    const told = (): void => {
      throw thrown;
    };
    consult(step(), told, (error) => void failed.push(error));
    expect(() => calls[0]?.answer(decide(calls[0]))).not.toThrow();
    expect(failed).toEqual([thrown]);
  });

  it('is not asked for the charge of a fallback in another process', () => {
    const { store, calls } = deskStore();
    const { ask, told } = consulted(store);
    const { ledger } = charge(rule);
    const mark = { id: 1, at: 1, position: 0 };
    ask({
      op: 'adjust',
      by: 'fallback',
      adjustments: [{ ledger, rule, mark, charged: 1, change: 'give-back', amount: 1 }],
    });
    expect(told).toMatchObject([{ ok: true, op: 'adjust', adjusted: [{ givenBack: 0 }] }]);
    expect(calls).toEqual([]);
  });
});
