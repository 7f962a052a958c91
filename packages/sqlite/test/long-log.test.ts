import type { Adjustment, AskOutcome, AskStep, Mark, Outcome, SlidingWindowLogRule, Step } from '@limiter/core';
import { ruleGrid } from '@limiter/core';
import { describe, expect, it } from 'vitest';
import { sqliteStore } from '../src/index.js';
import { count } from './support/dump.js';
import { newFile } from './support/files.js';
import { NaiveLedger } from './support/naive-log.js';
import { randomFrom } from './support/random.js';

const WINDOW_MS = 10_000;
const START = 1_700_000_000_000;

/** One ledger in a file, by two stores that take turns, and in a list, asked the same. */
function pair(limit: number) {
  const file = newFile();
  let now = START;
  const stores = [sqliteStore(file, { clock: () => now }), sqliteStore(file, { clock: () => now })];
  let steps = 0;
  // Several steps in a row by the same one, which then knows nodes that the other one changes.
  const run = (step: Step): Outcome => stores[Math.floor(steps++ / 5) % 2]?.runSync(step) as Outcome;
  const naive = new NaiveLedger(WINDOW_MS);
  const rule: SlidingWindowLogRule = { algorithm: 'sliding-window-log', limit, windowMs: WINDOW_MS };
  const ledger = { name: 'test/log', grid: ruleGrid(rule), values: ['someone'] };
  const marks: { readonly stored: Mark; readonly naive: Mark; readonly cost: number }[] = [];

  function ask(op: AskStep['op'], cost: number, holdBack = 0): AskOutcome {
    const step: AskStep = { op, charges: [{ ledger, rule, cost, holdBack, enforce: true }] };
    const expected = naive.ask(step, now);
    const got = run(step);
    expect(withoutId(got)).toEqual(withoutId(expected));
    const stored = (got as AskOutcome).verdicts[0]?.mark;
    const mark = expected.verdicts[0]?.mark;
    if (stored !== undefined && mark !== undefined) marks.push({ stored, naive: mark, cost });
    return expected;
  }

  function adjust(which: number, change: Adjustment['change'], amount: number): void {
    const charge = marks[which];
    if (charge === undefined) return;
    const adjustment = { ledger, rule, charged: charge.cost, change, amount };
    const expected = naive.adjust({ ...adjustment, mark: charge.naive }, now);
    const step = { op: 'adjust', adjustments: [{ ...adjustment, mark: charge.stored }] } as const;
    expect(run(step)).toEqual(expected);
  }

  return {
    file,
    run,
    naive,
    marks,
    ask,
    adjust,
    turn(ms: number) {
      now += ms;
    },
  };
}

function withoutId(outcome: Outcome): unknown {
  return JSON.parse(JSON.stringify(outcome, (key, value) => (key === 'id' ? undefined : value)));
}

const nodes = (file: string): number => count(file, 'limiter_node');

describe('a log of thousands of entries answers like a list of all of them', () => {
  it.each([1, 2, 3, 4, 5, 6])('whatever is charged, refused, given back or waited for (seed %i)', (seed) => {
    const random = randomFrom(seed);
    const limit = 500 + random(6_000);
    const log = pair(limit);
    const pace = 1 + random(4);
    for (let i = 0; i < 6_000; i += 1) {
      const dice = random(1_000);
      if (dice < 600) log.ask('consume', 1 + random(3));
      else if (dice < 650) log.ask('consume', random(limit + 2));
      else if (dice < 750) log.ask('peek', random(limit + 2), random(limit));
      else if (dice < 930) log.adjust(random(log.marks.length), 'give-back', 1 + random(3));
      else if (dice < 940) log.adjust(random(log.marks.length), 'charge', random(20));
      else if (dice < 943) log.turn(-random(5_000));
      else if (dice < 945) log.turn(random(2 * WINDOW_MS));
      log.turn(random(10) < 5 ? random(pace) : 0);
    }
  });

  it('three levels deep, entry by entry, with every hundredth given back', () => {
    const log = pair(100_000);
    for (let i = 0; i < 3_000; i += 1) {
      if (i % 3 === 0) log.turn(1);
      log.ask('consume', 1);
      if (i % 100 === 99) {
        log.adjust(i - 50, 'give-back', 1);
        log.ask('peek', 98_000);
      }
    }
    expect(log.naive.live).toBe(3_000);
    for (let wait = 0; wait < 100; wait += 1) {
      log.turn(100);
      log.ask('peek', 100_000);
    }
  });
});

describe('a log of costs near 2^53-1', () => {
  it.each([1, 2, 3])('is exact whatever has expired in its nodes (seed %i)', (seed) => {
    const random = randomFrom(seed);
    const log = pair(Number.MAX_SAFE_INTEGER);
    for (let i = 0; i < 3_000; i += 1) {
      const dice = random(100);
      // Many small entries, a few that are huge: nodes with both, and sums beyond 2^53 once the huge ones have expired.
      if (dice < 80) log.ask('consume', 1 + random(1_000));
      else if (dice < 90) log.ask('consume', 2 ** 51 + random(1_000));
      else if (dice < 95) log.ask('peek', random(2 ** 30) * 2 ** 22);
      else log.adjust(log.marks.length - 1 - random(500), 'give-back', 1 + random(2 ** 30) * 2 ** 20);
      log.turn(random(60));
    }
  });
});

describe('what has expired leaves', () => {
  it('a log that slides for ever keeps the nodes that still count, and few more', () => {
    const log = pair(1_000_000);
    let most = 0;
    for (let i = 0; i < 20_000; i += 1) {
      log.turn(10);
      log.run({
        op: 'consume',
        charges: [
          {
            ledger: { name: 'a/b', grid: 'l10000', values: [] },
            rule: { algorithm: 'sliding-window-log', limit: 1_000_000, windowMs: WINDOW_MS },
            cost: 1,
            holdBack: 0,
            enforce: true,
          },
        ],
      });
      if (i % 500 === 0) most = Math.max(most, nodes(log.file));
    }
    // 1,000 entries live: 31 leaves and what stands above them.
    expect(most).toBeLessThan(31 + 8);
  });

  it('one charge after a long silence drops a log of thousands of entries, in small steps of later charges', () => {
    const log = pair(10_000);
    for (let i = 0; i < 5_000; i += 1) log.ask('consume', 1);
    const before = nodes(log.file);
    expect(before).toBeGreaterThan(100);
    log.turn(10 * WINDOW_MS);
    log.ask('consume', 1);
    expect(nodes(log.file)).toBe(before);
    for (let i = 0; i < 200; i += 1) log.ask('consume', 1);
    expect(nodes(log.file)).toBeLessThan(12);
  });
});
