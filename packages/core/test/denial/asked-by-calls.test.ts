/** A denial memory around a store that is asked by calls: what it learns, and from which of the store's answers. */
import { memoryStore } from '@limiter/memory';
import { describe, expect, it } from 'vitest';
import type { Asking, AskingStore } from '../../src/index.js';
import { createLimiter, slidingWindowLog, withDenialMemory } from '../../src/index.js';

describe('a denial memory around a store that is asked by calls', () => {
  it('a store that is asked by calls is asked by calls, and what it answers is remembered', async () => {
    const time = { now: 1_000_000 };
    const memory = memoryStore({ clock: () => time.now });
    const calls: Asking[] = [];
    const remote: AskingStore = {
      traits: { ...memory.traits, sync: false, fails: 'possible' },
      run: () => Promise.reject(new Error('it can be asked by a call')),
      ask(asking) {
        calls.push(asking);
        asking.onAbort = () => asking.answer({ ok: false, fault: 'unreachable', cause: asking.reason });
        if (calls.length !== 3) asking.answer(memory.runSync(asking.step));
      },
    };
    const store = withDenialMemory(remote, { now: () => time.now });
    const limits = { log: slidingWindowLog({ limit: 2, window: '1s' }) };
    const limiter = createLimiter({ name: 'api', store, limits, onStoreFailure: 'deny', storeTimeout: '20ms' });
    await limiter.consume('u');
    expect(await limiter.consume('u', { cost: 2 })).toMatchObject({ decidedBy: 'store', allowed: false });
    expect(await limiter.consume('u', { cost: 2 })).toMatchObject({ decidedBy: 'denial-memory', retryAfterMs: 1_000 });
    expect(calls).toHaveLength(2);
    expect(await limiter.consume('u'), 'the deadline reaches the store').toMatchObject({ reason: 'store-failure' });
    expect((await limiter.consume('u', { cost: 2 })).decidedBy, 'it never ran').toBe('denial-memory');
    await limiter.consume('u');
    expect(await limiter.consume('u', { cost: 2 })).toMatchObject({
      decidedBy: 'store',
      limits: { log: { remaining: 0 } },
    });
  });

  it('asks again after a call of which the store threw: it may have been charged', async () => {
    const time = { now: 1_000_000 };
    const memory = memoryStore({ clock: () => time.now });
    let broken = false;
    const remote: AskingStore = {
      traits: { ...memory.traits, sync: false, fails: 'possible' },
      run: (steps) => memory.run(steps),
      ask(asking) {
        const outcome = memory.runSync(asking.step);
        if (broken) throw new TypeError('cannot read properties of undefined');
        asking.answer(outcome);
      },
    };
    const store = withDenialMemory(remote, { now: () => time.now });
    const limits = { log: slidingWindowLog({ limit: 3, window: '1s' }) };
    const limiter = createLimiter({ name: 'api', store, limits, onStoreFailure: 'deny' });
    await limiter.consume('u', { cost: 1 });
    expect((await limiter.consume('u', { cost: 3 })).limits.log.remaining).toBe(2);
    broken = true;
    expect((await limiter.consume('u', { cost: 1 })).reason).toBe('store-failure');
    broken = false;
    expect(await limiter.consume('u', { cost: 3 })).toMatchObject({
      decidedBy: 'store',
      limits: { log: { remaining: 1 } },
    });
  });

  it('learns the first answer of a store that answers a call twice, and no other', async () => {
    const time = { now: 1_000_000 };
    const memory = memoryStore({ clock: () => time.now });
    const remote: AskingStore = {
      traits: { ...memory.traits, sync: false, fails: 'possible' },
      run: (steps) => memory.run(steps),
      ask(asking) {
        asking.answer(memory.runSync(asking.step));
        asking.fail(new TypeError('cannot read properties of undefined'));
      },
    };
    const store = withDenialMemory(remote, { now: () => time.now });
    const limits = { log: slidingWindowLog({ limit: 3, window: '1s' }) };
    const limiter = createLimiter({ name: 'api', store, limits, onStoreFailure: 'deny' });
    await limiter.consume('u', { cost: 2 });
    await limiter.consume('u', { cost: 2 });
    expect(await limiter.consume('u', { cost: 2 })).toMatchObject({ allowed: false, decidedBy: 'denial-memory' });
  });
});
