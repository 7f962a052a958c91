import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EntryLog } from '../src/entry-log.js';

const MAX = Number.MAX_SAFE_INTEGER;
const WINDOW = 100;

interface Entry {
  readonly position: number;
  at: number;
  kept: number;
}

/** A log that keeps every entry and answers by walking them. */
class NaiveLog {
  entries: Entry[] = [];
  appended = 0;

  get newestAt(): number {
    return this.entries.at(-1)?.at ?? Number.NEGATIVE_INFINITY;
  }

  /** What is older than a window than the newest entry can never count again. */
  append(at: number, cost: number, windowMs: number): void {
    this.entries = this.entries.filter((entry) => entry.at > at - windowMs);
    this.entries.push({ position: this.appended, at, kept: cost });
    this.appended += 1;
  }

  shift(ms: number): void {
    for (const entry of this.entries) entry.at -= ms;
  }

  usedAfter(after: number): number {
    return this.entries.filter(({ at }) => at > after).reduce((sum, { kept }) => sum + kept, 0);
  }

  timeOfUnit(amount: number, after: number): number {
    let passed = 0;
    for (const { at, kept } of this.entries) {
      if (at <= after) continue;
      passed += kept;
      if (passed >= amount) return at;
    }
    throw new Error('there are fewer units');
  }
}

interface Costs {
  readonly cost: fc.Arbitrary<number>;
  /** The most that may be kept in a window. */
  readonly limit: number;
}

const SMALL: Costs = { cost: fc.integer({ min: 1, max: 9 }), limit: MAX };
const HUGE: Costs = {
  cost: fc.oneof(
    fc.integer({ min: 1, max: 3 }),
    fc.maxSafeNat().map((n) => Math.max(1, n)),
    fc.constant(MAX),
  ),
  limit: MAX,
};

type Command =
  | { readonly do: 'append'; readonly afterMs: number; readonly cost: number }
  | { readonly do: 'shift'; readonly ms: number }
  | { readonly do: 'give back'; readonly which: number; readonly part: number };

function commands(costs: Costs, length: number): fc.Arbitrary<readonly Command[]> {
  const pause = fc.oneof(
    { weight: 12, arbitrary: fc.integer({ min: 0, max: 2 }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: WINDOW }) },
    { weight: 1, arbitrary: fc.constant(3 * WINDOW) },
  );
  const append = fc.record({ do: fc.constant('append' as const), afterMs: pause, cost: costs.cost });
  const shift = fc.record({ do: fc.constant('shift' as const), ms: fc.integer({ min: 2_001, max: 90_000_000 }) });
  const giveBack = fc.record({
    do: fc.constant('give back' as const),
    which: fc.nat(),
    part: fc.integer({ min: 1, max: 4 }),
  });
  const one = fc.oneof(
    { weight: 12, arbitrary: append },
    { weight: 1, arbitrary: shift },
    { weight: 5, arbitrary: giveBack },
  );
  return fc.array(one, { minLength: 1, maxLength: length, size: 'max' });
}

/** Runs the commands on both, then compares everything that may be asked, after every command. */
function compare(history: readonly Command[], limit: number): void {
  const log = new EntryLog(7);
  const naive = new NaiveLog();
  let now = 1_000_000_000_000;
  const append = (afterMs: number, cost: number): void => {
    now = Math.max(now + afterMs, naive.newestAt);
    const room = limit - naive.usedAfter(now - WINDOW);
    if (room < 1) return;
    const charged = Math.min(cost, room);
    expect(log.nextPosition).toBe(naive.appended);
    log.apply({ shiftMs: 0, append: { at: now, cost: charged } }, WINDOW);
    naive.append(now, charged, WINDOW);
  };
  append(0, 1);
  for (const command of history) {
    if (command.do === 'append') append(command.afterMs, command.cost);
    else if (command.do === 'shift') {
      log.apply({ shiftMs: command.ms }, WINDOW);
      naive.shift(command.ms);
      now = naive.newestAt;
    } else {
      const counting = naive.entries.filter(({ at }) => at > naive.newestAt - WINDOW);
      const entry = counting[command.which % counting.length] as Entry;
      const amount = Math.ceil(entry.kept / command.part);
      if (amount === 0) continue;
      log.apply({ shiftMs: 0, giveBack: { position: entry.position, amount } }, WINDOW);
      entry.kept -= amount;
    }
    const at = Math.max(now, naive.newestAt);
    for (const after of [at - WINDOW, at - WINDOW + 1, at - WINDOW / 2, at - 1, at]) expectSame(log, naive, after);
  }
}

function expectSame(log: EntryLog, naive: NaiveLog, after: number): void {
  const same = (what: string, got: number | undefined, wanted: number): void => {
    if (got !== wanted) expect.fail(`${what} after ${after}: got ${got}, wanted ${wanted}`);
  };
  same('the newest', log.newestAt, naive.newestAt);
  const used = naive.usedAfter(after);
  same('what is used', log.usedAfter(after), used);
  for (const amount of new Set([1, 2, Math.floor(used / 3), Math.floor(used / 2), used - 1, used])) {
    if (amount < 1 || amount > used) continue;
    same(`unit ${amount} of ${used}`, log.timeOfUnit(amount, after), naive.timeOfUnit(amount, after));
  }
  for (const { position, at, kept } of naive.entries) {
    if (at <= after) continue;
    const entry = log.entry(position);
    same(`the time of entry ${position}`, entry?.at, at);
    same(`what is kept of entry ${position}`, entry?.kept, kept);
  }
}

describe('the log of a sliding window', () => {
  it('answers like a list that keeps every entry, through appends, expiry, refunds and moves of the clock', () => {
    fc.assert(
      fc.property(commands(SMALL, 300), (history) => compare(history, SMALL.limit)),
      { numRuns: 150 },
    );
  });

  it('answers like a list that keeps every entry when costs and their sums lie near 2^53-1', () => {
    fc.assert(
      fc.property(commands(HUGE, 60), (history) => compare(history, HUGE.limit)),
      { numRuns: 400 },
    );
  });

  it('answers like a list when thousands of entries and hundreds of refunds are alive', () => {
    const log = new EntryLog(1);
    const naive = new NaiveLog();
    const windowMs = 5_000;
    for (let i = 0; i < 12_000; i += 1) {
      log.apply({ shiftMs: 0, append: { at: i, cost: 1 + (i % 7) } }, windowMs);
      naive.append(i, 1 + (i % 7), windowMs);
      if (i % 11 === 0) {
        const position = Math.max(0, i - ((i * 31) % 4_900));
        const entry = naive.entries.find((one) => one.position === position);
        if (entry !== undefined && entry.kept > 0) {
          log.apply({ shiftMs: 0, giveBack: { position, amount: 1 } }, windowMs);
          entry.kept -= 1;
        }
      }
      if (i % 997 === 0) expectSame(log, naive, i - windowMs);
    }
    expectSame(log, naive, 12_000 - windowMs);
  });

  it('keeps the positions of its entries when the sums begin again', () => {
    const log = new EntryLog(1);
    log.apply({ shiftMs: 0, append: { at: 10, cost: MAX - 1 } }, WINDOW);
    log.apply({ shiftMs: 0, giveBack: { position: 0, amount: MAX - 3 } }, WINDOW);
    log.apply({ shiftMs: 0, append: { at: 20, cost: MAX - 2 } }, WINDOW);
    expect(log.entry(0)).toEqual({ at: 10, kept: 2 });
    expect(log.entry(1)).toEqual({ at: 20, kept: MAX - 2 });
    expect(log.usedAfter(0)).toBe(MAX);
    log.apply({ shiftMs: 0, giveBack: { position: 0, amount: 2 } }, WINDOW);
    expect(log.usedAfter(0)).toBe(MAX - 2);
    expect(log.nextPosition).toBe(2);
  });

  it('stays exact when the clock goes from one end of time to the other and back, again and again', () => {
    const log = new EntryLog(1);
    const end = 2 ** 52 - 1;
    for (let round = 0; round < 5; round += 1) {
      log.apply({ shiftMs: 0, append: { at: end, cost: 2 } }, WINDOW);
      expect(log.newestAt).toBe(end);
      log.apply({ shiftMs: end, append: { at: 0, cost: 3 } }, WINDOW);
      expect(log.newestAt).toBe(0);
      expect(log.usedAfter(-WINDOW)).toBe(5);
      expect(log.timeOfUnit(5, -WINDOW)).toBe(0);
      log.apply({ shiftMs: 0, append: { at: 3, cost: 1 } }, WINDOW);
      expect([log.timeOfUnit(5, -WINDOW), log.timeOfUnit(6, -WINDOW)]).toEqual([0, 3]);
    }
  });

  it('stays exact when small steps back add up to more than all of time', () => {
    const log = new EntryLog(1);
    const windowMs = 2 ** 42;
    const top = 2 ** 52 - 1;
    for (let round = 1; round <= 1_500; round += 1) {
      log.apply({ shiftMs: 0, append: { at: top, cost: 2 } }, windowMs);
      expect(log.newestAt).toBe(top);
      expect(log.usedAfter(top - windowMs)).toBe(round === 1 ? 2 : 3);
      log.apply({ shiftMs: windowMs - 1, append: { at: top - windowMs + 1, cost: 1 } }, windowMs);
      expect(log.newestAt).toBe(top - windowMs + 1);
      expect(log.usedAfter(top - 2 * windowMs + 1)).toBe(round === 1 ? 3 : 4);
      // What was charged before the step now lies at the same moment; the next charge at the top leaves only the last unit.
      log.apply({ shiftMs: 0, giveBack: { position: log.nextPosition - 2, amount: 2 } }, windowMs);
      expect(log.usedAfter(top - 2 * windowMs + 1)).toBe(round === 1 ? 1 : 2);
    }
  });

  it('knows nothing of a position that it never gave, that is no whole number, or that was dropped', () => {
    const log = new EntryLog(1);
    for (let at = 0; at < 10; at += 1) log.apply({ shiftMs: 0, append: { at, cost: 1 } }, WINDOW);
    for (const position of [-1, 10, 0.5, Number.NaN, Number.POSITIVE_INFINITY])
      expect(log.entry(position)).toBeUndefined();
    log.apply({ shiftMs: 0, append: { at: 1_000, cost: 1 } }, WINDOW);
    expect(log.entry(9)).toBeUndefined();
    expect(log.entry(10)).toEqual({ at: 1_000, kept: 1 });
  });

  it('drops at most two entries that expired with each one that is added, and lets its room shrink again', () => {
    const log = new EntryLog(1);
    for (let i = 0; i < 1_000; i += 1) log.apply({ shiftMs: 0, append: { at: i, cost: 1 } }, 1_000);
    const oldest = (): number => {
      let position = log.nextPosition - 1;
      while (log.entry(position - 1) !== undefined) position -= 1;
      return position;
    };
    expect(oldest()).toBe(0);
    for (let i = 1; i <= 400; i += 1) {
      log.apply({ shiftMs: 0, append: { at: 1_900, cost: 1 } }, 1_000);
      expect(oldest()).toBe(2 * i);
    }
    expect(log.usedAfter(900)).toBe(99 + 400);
  });
});
