import { describe, expect, it } from 'vitest';
import { type LateAnswerEvent, type StoreEvent, type StoreFailureEvent, throttled } from '../../src/failure/events.js';
import { withObservation } from '../../src/failure/observation.js';
import { flakyStore, flakySyncStore } from './flaky-store.js';
import { asked, charge, consume, faulty, perMinute } from './steps.js';

const cause = new Error('ECONNREFUSED');
const down = { does: 'fail', fault: 'unreachable', cause } as const;
const step = consume(charge(perMinute(1_000)), 'deny');

function watched(store = flakyStore()) {
  const events: StoreEvent[] = [];
  const clock = { ms: 0 };
  const seen = withObservation(store, { onEvent: (event) => events.push(event), now: () => clock.ms });
  const ask = async (times = 1): Promise<void> => {
    for (let i = 0; i < times; i += 1) await seen.run([step]);
  };
  return { store, seen, events, clock, ask };
}

describe('an outage is told', () => {
  it('not at all while there is none', async () => {
    const { store, seen, events, ask } = watched();
    await ask(3);
    expect(asked((await seen.run([step]))[0]).verdicts[0]?.remaining).toBe(996);
    expect(seen.traits).toBe(store.traits);
    expect('runSync' in seen).toBe(false);
    expect(await seen.run([])).toEqual([]);
    expect(events).toEqual([]);
  });

  it('at once, with the fault, the cause and what was done instead', async () => {
    const { store, seen, events } = watched();
    store.behaviour = down;
    const [outcome] = await seen.run([step]);
    expect(faulty(outcome)).toMatchObject({ fault: 'unreachable', cause });
    expect(events).toEqual([{ type: 'store-failure', fault: 'unreachable', cause, word: 'deny', suppressed: 0 }]);
  });

  it('once a minute, with the number that was left out', async () => {
    const { store, events, clock, ask } = watched();
    store.behaviour = down;
    await ask(500);
    clock.ms = 59_999;
    await ask(500);
    expect(events).toHaveLength(1);
    clock.ms = 60_000;
    await ask(10);
    expect(events.map((event) => (event as StoreFailureEvent).suppressed)).toEqual([0, 999]);
    clock.ms = 120_000;
    await ask();
    expect((events[2] as StoreFailureEvent).suppressed).toBe(9);
  });

  it('and its end, with its length and the number of failures', async () => {
    const { store, events, clock, ask } = watched();
    store.behaviour = down;
    await ask(3);
    clock.ms = 2_000;
    await ask(4);
    clock.ms = 12_345;
    store.behaviour = { does: 'work' };
    await ask(7);
    expect(events.slice(1)).toEqual([{ type: 'store-recovered', failures: 7, outageMs: 12_345 }]);
  });

  it('once a minute even when the store comes and goes, and no end is told whose beginning was not', async () => {
    const { store, events, clock, ask } = watched();
    for (let i = 0; i < 600; i += 1) {
      store.behaviour = i % 2 === 0 ? down : { does: 'work' };
      clock.ms = i * 100;
      await ask();
    }
    expect(events.map(({ type }) => type)).toEqual(['store-failure', 'store-recovered']);
    clock.ms = 60_000;
    store.behaviour = down;
    await ask();
    expect(events[2]).toMatchObject({ type: 'store-failure', suppressed: 299 });
  });

  it('for each step of a run, and a reset has no word', async () => {
    const { store, seen, events, clock, ask } = watched();
    store.behaviour = down;
    await seen.run([{ op: 'reset', ledgers: [] }, step, step]);
    expect(events).toMatchObject([{ type: 'store-failure', word: undefined }]);
    clock.ms = 60_000;
    await ask();
    expect(events[1]).toMatchObject({ suppressed: 2 });
  });

  it('in the synchronous form too', () => {
    const store = flakySyncStore();
    const events: StoreEvent[] = [];
    const seen = withObservation(store, { onEvent: (event) => events.push(event) });
    store.behaviour = { does: 'throw', error: cause };
    faulty(seen.runSync(step));
    store.behaviour = { does: 'work' };
    asked(seen.runSync(step));
    expect(events.map(({ type }) => type)).toEqual(['store-failure', 'store-recovered']);
  });

  it('to a watcher whose errors and rejections stay its own', async () => {
    const store = flakyStore();
    let calls = 0;
    const seen = withObservation(store, {
      intervalMs: 1,
      now: () => calls * 10,
      onEvent: () => {
        calls += 1;
        if (calls === 1) throw new Error('the watcher fell asleep');
        return Promise.reject(new Error('the watcher fell asleep')) as unknown as undefined;
      },
    });
    store.behaviour = down;
    await seen.run([step]);
    await seen.run([step]);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(calls).toBe(2);
  });
});

describe('throttled', () => {
  const late = (result: LateAnswerEvent['result'], count: number): LateAnswerEvent => ({
    type: 'late-answer',
    result,
    count,
    afterMs: 300,
    suppressed: 0,
  });

  it('counts the decisions of late answers, each result apart', () => {
    const events: StoreEvent[] = [];
    const clock = { ms: 0 };
    const tell = throttled(
      (event) => events.push(event),
      1_000,
      () => clock.ms,
    );
    expect([tell(late('kept', 3)), tell(late('kept', 4)), tell(late('given-back', 1)), tell(late('kept', 5))]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    clock.ms = 1_000;
    tell(late('kept', 1));
    expect(events).toMatchObject([
      { result: 'kept', count: 3, suppressed: 0 },
      { result: 'given-back', count: 1, suppressed: 0 },
      { result: 'kept', count: 1, suppressed: 9 },
    ]);
  });

  it('lets everything else pass', () => {
    const events: StoreEvent[] = [];
    const tell = throttled(
      (event) => events.push(event),
      1_000,
      () => 0,
    );
    for (let i = 0; i < 3; i += 1) {
      tell({ type: 'breaker-opened', failures: 5, probeAfterMs: 1_000, cause });
      tell({ type: 'breaker-closed', openMs: 1 });
      tell({ type: 'store-recovered', failures: 1, outageMs: 1 });
    }
    expect(events).toHaveLength(9);
  });
});
