import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { memoryStore } from '@limiter/memory';
import { describe, expect, it } from 'vitest';
import {
  type Charge,
  createLimiter,
  fixedWindow,
  slidingWindowLog,
  type TokenBucketRule,
  withDenialMemory,
} from '../../src/index.js';

const rule: TokenBucketRule = { algorithm: 'token-bucket', capacity: 1, refillTokens: 1, refillMs: 60_000 };
const charge: Charge = {
  ledger: { name: 'x/y', grid: 'b60000', values: ['a', 'b'], slot: 's' },
  rule,
  cost: 2,
  holdBack: 0,
  enforce: true,
};
const { ledger } = charge;

describe('a denial is remembered for its question only', () => {
  it.each<[what: string, other: Charge]>([
    ['cost', { ...charge, cost: 3 }],
    ['hold-back', { ...charge, holdBack: 1 }],
    ['capacity', { ...charge, rule: { ...rule, capacity: 0 } }],
    ['refill', { ...charge, rule: { ...rule, refillTokens: 2 } }],
    ['ledger', { ...charge, ledger: { ...ledger, name: 'x/z' } }],
    ['grid', { ...charge, ledger: { ...ledger, grid: 'b1' }, rule: { ...rule, refillMs: 1 } }],
    ['slot', { ...charge, ledger: { ...ledger, slot: 't' } }],
    ['place without a slot', { ...charge, ledger: { ...ledger, slot: undefined } }],
    ['value', { ...charge, ledger: { ...ledger, values: ['a', 'c'] } }],
    ['number of values', { ...charge, ledger: { ...ledger, values: ['a', 'b', 'b'] } }],
    ['order of values', { ...charge, ledger: { ...ledger, values: ['b', 'a'] } }],
  ])('another %s asks the store', (_, other) => {
    const store = withDenialMemory(memoryStore());
    store.runSync({ op: 'consume', charges: [charge] });
    store.runSync({ op: 'consume', charges: [other] });
    store.runSync({ op: 'consume', charges: [charge, charge] });
    store.runSync({ op: 'peek', charges: [charge] });
    expect(store.denials().answered).toBe(0);
    store.runSync({ op: 'consume', charges: [structuredClone(charge)] });
    expect(store.denials().answered).toBe(1);
  });

  it.each([
    [['a', 'a'], ['a']],
    [['a'], ['a', 'a']],
    [
      ['a', 'a', 'b'],
      ['a', 'b', 'b'],
    ],
  ])('values that repeat are kept apart: %j is not %j', (values, others) => {
    const store = withDenialMemory(memoryStore());
    store.runSync({ op: 'consume', charges: [{ ...charge, ledger: { ...ledger, values } }] });
    store.runSync({ op: 'consume', charges: [{ ...charge, ledger: { ...ledger, values: others } }] });
    expect(store.denials()).toEqual({ answered: 0, remembered: 2 });
  });

  it('what has left is not held on to', () => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    const store = withDenialMemory(memoryStore(), { max: 10 });
    gc();
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < 5_000; i += 1) {
      const values = [`${'a'.repeat(10_000)}${i}`];
      store.runSync({ op: 'consume', charges: [{ ...charge, ledger: { ...ledger, values } }] });
    }
    gc();
    expect(store.denials().remembered).toBe(10);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(20_000_000);
  });

  it('another mode of a limit beside the one that refuses asks the store', () => {
    const store = withDenialMemory(memoryStore());
    const beside: Charge = { ...charge, ledger: { ...ledger, name: 'x/z' }, cost: 1 };
    store.runSync({ op: 'consume', charges: [charge, beside] });
    store.runSync({ op: 'consume', charges: [charge, { ...beside, enforce: false }] });
    expect(store.denials()).toEqual({ answered: 0, remembered: 2 });
  });

  it('a step may be filled in again after its answer', () => {
    const store = withDenialMemory(memoryStore());
    const values = ['a', 'b'];
    const step = { op: 'consume', charges: [{ ...charge, ledger: { ...ledger, values } }] } as const;
    store.runSync(step);
    values[0] = 'c';
    store.runSync(step);
    expect(store.denials()).toEqual({ answered: 0, remembered: 2 });
  });
});

describe('a denial is not remembered past a change that no wait tells', () => {
  it('a refusal that comes to be by what is held back alone says so at once', () => {
    const time = { now: 1_000_000 };
    const store = withDenialMemory(memoryStore({ clock: () => time.now }), { now: () => time.now });
    const calls = slidingWindowLog({ limit: 10, window: '1s', reserve: { low: 5 } });
    const limiter = createLimiter({ name: 'api', store, limits: { calls }, onStoreFailure: 'throw' });
    limiter.consumeSync('u', { cost: 3 });
    time.now += 100;
    limiter.consumeSync('u', { cost: 7 });
    expect(limiter.consumeSync('u', { cost: 3, priority: 'low' })).toMatchObject({ reason: 'over-limit' });
    time.now += 900;
    expect(limiter.consumeSync('u', { cost: 3, priority: 'low' })).toMatchObject({ reason: 'held-back' });
    expect(limiter.consumeSync('u', { cost: 3, priority: 'low' })).toMatchObject({
      reason: 'held-back',
      decidedBy: 'denial-memory',
    });
  });

  it('a denial stores that the clock was set back: what was denied before by the same ledger is asked again', () => {
    const time = { now: 10_000_000 };
    const store = withDenialMemory(memoryStore({ clock: () => time.now }), { staleMs: 100_000, now: () => time.now });
    const calls = fixedWindow({ limit: 2, window: '10s', align: 'first-request' });
    const limiter = createLimiter({ name: 'api', store, limits: { calls }, onStoreFailure: 'throw' });
    limiter.consumeSync('u', { cost: 2 });
    expect(limiter.consumeSync('u', { cost: 1 })).toMatchObject({ allowed: false, retryAfterMs: 10_000 });
    time.now -= 5_000;
    expect(limiter.consumeSync('u', { cost: 2 })).toMatchObject({ allowed: false, retryAfterMs: 10_000 });
    time.now += 6_000;
    expect(limiter.consumeSync('u', { cost: 1 })).toMatchObject({ decidedBy: 'store', retryAfterMs: 4_000 });
  });
});
