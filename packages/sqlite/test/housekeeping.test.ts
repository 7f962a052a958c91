import { describe, expect, it } from 'vitest';
import { sqliteStore } from '../src/index.js';
import { count } from './support/dump.js';
import { newFile } from './support/files.js';
import { asked, charge, consume, fixedWindow, only, peek } from './support/steps.js';

const SHORT = fixedWindow(5, 1_000);
const LONG = fixedWindow(5, 1_000_000_000);

function turned() {
  const file = newFile();
  const clock = { now: 1_700_000_000_000 };
  return { file, clock, store: sqliteStore(file, { clock: () => clock.now }) };
}

describe('ledgers that nobody needs any more', () => {
  it('leave while others are charged, a few at a time, and those that count stay', () => {
    const { file, clock, store } = turned();
    for (let i = 0; i < 3_000; i += 1) store.runSync(consume(charge(SHORT, 1, [`visitor ${i}`])));
    for (let i = 0; i < 300; i += 1) store.runSync(consume(charge(LONG, 2, [`customer ${i}`])));
    clock.now += 10_000;
    let before = count(file, 'limiter_ledger');
    expect(before).toBeGreaterThanOrEqual(3_300);
    for (let i = 0; i < 64; i += 1) {
      for (let n = 0; n < 64; n += 1) store.runSync(consume(charge(fixedWindow(1_000_000), 1, ['everybody'])));
      const after = count(file, 'limiter_ledger');
      expect(before - after).toBeLessThanOrEqual(128);
      before = after;
    }
    expect(before).toBe(301);
    for (let i = 0; i < 300; i += 1) {
      expect(only(store.runSync(peek(charge(LONG, 1, [`customer ${i}`])))).remaining).toBe(3);
    }
  });

  it('never are many more than the ledgers in use, however many come and go', () => {
    const { file, clock, store } = turned();
    let most = 0;
    for (let i = 0; i < 20_000; i += 1) {
      clock.now += 10;
      store.runSync(consume(charge(SHORT, 1, [`visitor ${(i * 7_919) % 20_000}`])));
      if (i % 1_000 === 999) most = Math.max(most, count(file, 'limiter_ledger'));
    }
    // In use at once: 1 s of visitors and the 5 s for which a row may be needed by a slower clock, 600.
    expect(most).toBeLessThan(1_500);
  });

  it('leave in the asynchronous form as fast as in the synchronous one', async () => {
    const { file, clock, store } = turned();
    for (let round = 0; round < 20; round += 1) {
      clock.now += 100_000;
      await store.run(Array.from({ length: 200 }, (_, i) => consume(charge(SHORT, 1, [`${round} ${i}`]))));
    }
    expect(count(file, 'limiter_ledger')).toBeLessThan(800);
  });

  it('stay when only peeks and denials come: these write nothing', () => {
    const { file, clock, store } = turned();
    for (let i = 0; i < 100; i += 1) store.runSync(consume(charge(SHORT, 5, [`visitor ${i}`])));
    clock.now += 100_000;
    for (let i = 0; i < 500; i += 1) store.runSync(peek(charge(SHORT)));
    expect(count(file, 'limiter_ledger')).toBe(100);
  });
});

describe('the nodes of a long log', () => {
  function long(entries: number) {
    const made = turned();
    const log = charge({ algorithm: 'sliding-window-log', limit: 1_000_000, windowMs: 60_000 });
    for (let i = 0; i < entries; i += 1) asked(made.store.runSync(consume(log)));
    return { ...made, log };
  }

  it('leave with their ledger when it has expired, in small steps', () => {
    const { file, clock, store } = long(6_000);
    expect(count(file, 'limiter_node')).toBeGreaterThan(110);
    clock.now += 100_000;
    let before = count(file, 'limiter_node');
    for (let i = 0; i < 10; i += 1) {
      for (let n = 0; n < 64; n += 1) store.runSync(consume(charge(LONG, 1, [`${i} ${n}`])));
      const after = count(file, 'limiter_node');
      expect(before - after).toBeLessThanOrEqual(64);
      before = after;
    }
    expect(before).toBe(0);
  });

  it('leave after a reset, which itself deletes none of them', () => {
    const { file, store, log } = long(6_000);
    const before = count(file, 'limiter_node');
    expect(store.runSync({ op: 'reset', ledgers: [log.ledger] }).ok).toBe(true);
    expect(count(file, 'limiter_node')).toBe(before);
    expect(only(store.runSync(consume(log))).remaining).toBe(999_999);
    for (let n = 0; n < 320; n += 1) store.runSync(consume(charge(LONG, 1, [`customer ${n}`])));
    expect(count(file, 'limiter_node')).toBe(0);
    expect(only(store.runSync(peek(log))).remaining).toBe(999_999);
  });
});
