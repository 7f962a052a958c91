import {
  type AdjustStep,
  type AskOutcome,
  type Mark,
  type Outcome,
  type Rule,
  ruleGrid,
  type Step,
} from '@limiter/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sqliteStore } from '../src/index.js';
import { Known } from '../src/known.js';
import { open, openWriteAhead, value } from './support/database.js';
import { count } from './support/dump.js';
import { newFile } from './support/files.js';
import { asked, charge, consume, fixedWindow, only, peek } from './support/steps.js';

const RULES: readonly Rule[] = [
  fixedWindow(9, 1_000),
  { algorithm: 'fixed-window', limit: 7, windowMs: 700, align: 'first-request', offsetMs: 0 },
  { algorithm: 'token-bucket', capacity: 8, refillTokens: 3, refillMs: 500 },
  { algorithm: 'sliding-window-log', limit: 10, windowMs: 900 },
];
const WHO = ['a', 'b'];

interface Act {
  readonly store: number;
  readonly kind: 'consume' | 'peek' | 'give-back' | 'reset' | 'many';
  readonly rules: readonly number[];
  readonly who: number;
  readonly cost: number;
  readonly turnMs: number;
}

const ACTS = fc.array(
  fc.record<Act>({
    store: fc.nat(1),
    kind: fc.constantFrom('consume', 'consume', 'consume', 'peek', 'give-back', 'reset', 'many'),
    rules: fc.uniqueArray(fc.nat(RULES.length - 1), { minLength: 1 }),
    who: fc.nat(WHO.length - 1),
    cost: fc.integer({ min: 0, max: 4 }),
    turnMs: fc.integer({ min: -20, max: 300 }),
  }),
  { minLength: 1, maxLength: 60 },
);

/** The answer without what is random in it. */
function plain(outcomes: readonly Outcome[]): unknown {
  return JSON.parse(JSON.stringify(outcomes, (key, part) => (key === 'id' ? undefined : part)));
}

describe('what a store knows without reading', () => {
  it('never shows: two stores that take turns on one file answer like one that reads every row', async () => {
    await fc.assert(
      fc.asyncProperty(ACTS, async (acts) => {
        let now = 1_700_000_000_000;
        const clock = () => now;
        const file = newFile();
        const two = [sqliteStore(file, { clock }), sqliteStore(file, { clock })];
        const reading = sqliteStore(openWriteAhead(newFile()), { clock });
        const marks: { rule: Rule; who: string; cost: number; got: Mark; expected: Mark }[] = [];
        for (const { store, kind, rules, who, cost, turnMs } of acts) {
          now += turnMs;
          const ours = two[store] as (typeof two)[0];
          const charges = rules.map((i) => charge(RULES[i] as Rule, cost, [WHO[who] as string]));
          const both = async (got: Step[], expected: Step[]): Promise<readonly [Outcome[], Outcome[]]> =>
            got.length === 1
              ? [[ours.runSync(got[0] as Step)], [reading.runSync(expected[0] as Step)]]
              : [[...(await ours.run(got))], [...(await reading.run(expected))]];
          let steps: readonly [Step[], Step[]];
          if (kind === 'give-back') {
            const mark = marks[cost % Math.max(1, marks.length)];
            if (mark === undefined) continue;
            const step = (of: Mark): AdjustStep => ({
              op: 'adjust',
              adjustments: [
                {
                  ledger: { name: 'test/limit', grid: ruleGrid(mark.rule), values: [mark.who] },
                  rule: mark.rule,
                  mark: of,
                  charged: mark.cost,
                  change: kind,
                  amount: 1,
                },
              ],
            });
            steps = [[step(mark.got)], [step(mark.expected)]];
          } else {
            const one: Step =
              kind === 'reset'
                ? { op: 'reset', ledgers: charges.map(({ ledger }) => ledger) }
                : { op: kind === 'peek' ? 'peek' : 'consume', charges };
            const all = kind === 'many' ? [one, consume(charge(RULES[0] as Rule)), one] : [one];
            steps = [all, all];
          }
          const [got, expected] = await both(...steps);
          expect(plain(got)).toEqual(plain(expected));
          if (kind === 'consume') {
            const [mine, theirs] = [asked(got[0]), asked(expected[0])] as [AskOutcome, AskOutcome];
            for (const [i, { rule }] of charges.entries()) {
              const [a, b] = [mine.verdicts[i]?.mark, theirs.verdicts[i]?.mark];
              if (a !== undefined && b !== undefined)
                marks.push({ rule, who: WHO[who] as string, cost, got: a, expected: b });
            }
          }
        }
        for (const store of two) await store.close?.();
      }),
      { numRuns: 60 },
    );
  }, 60_000);

  it('is dropped when another connection has written the row, whatever it wrote', () => {
    const file = newFile();
    const store = sqliteStore(file);
    const five = charge(fixedWindow(5));
    expect(only(store.runSync(consume(five))).remaining).toBe(4);
    const other = open(file);
    other.exec('UPDATE limiter_ledger SET amount = 3');
    expect(only(store.runSync(peek(five))).remaining).toBe(2);
    other.exec('DELETE FROM limiter_ledger');
    expect(only(store.runSync(consume(five))).remaining).toBe(4);
    other.exec('UPDATE limiter_ledger SET amount = -1');
    expect(store.runSync(peek(five))).toMatchObject({ ok: false, fault: 'corrupt' });
  });

  it('is read anew in a database that was handed in, whose owner may write through it', () => {
    const database = open(newFile());
    const store = sqliteStore(database);
    const five = charge(fixedWindow(5));
    store.runSync(consume(five));
    database.exec('UPDATE limiter_ledger SET amount = 3');
    expect(only(store.runSync(consume(five))).remaining).toBe(1);
  });

  it('is not what a transaction did that was taken back', () => {
    const file = newFile();
    const store = sqliteStore(file, { busyTimeout: '1ms' });
    const five = charge(fixedWindow(5));
    store.runSync(consume(five));
    const other = open(file);
    other.exec('BEGIN IMMEDIATE');
    expect(store.runSync(consume(five))).toMatchObject({ ok: false, fault: 'unreachable' });
    expect(only(store.runSync(peek(five))).remaining).toBe(4);
    other.exec('ROLLBACK');
    expect(only(store.runSync(consume(five))).remaining).toBe(3);
  });
});

describe('how much is known', () => {
  it('stays at some thousands of keys, also where all of them are asked again and again without a transaction', () => {
    const known = new Known();
    const keys = Array.from({ length: 20_000 }, (_, i) => `${i}`);
    for (const [i, key] of keys.entries()) {
      known.begin(1);
      known.add({ key, state: undefined, unwritten: undefined });
      if (i % 2_000 === 0) for (const earlier of keys.slice(0, i)) known.look(earlier);
    }
    expect(keys.filter((key) => known.get(key) !== undefined).length).toBeLessThanOrEqual(8_192);
  });
});

describe('a question about one ledger that is known', () => {
  it.each([
    ['fixed window', RULES[0] as Rule],
    ['token bucket', RULES[2] as Rule],
  ])('is judged again when the row of the %s has changed: two connections admit exactly the limit', (_name, rule) => {
    const file = newFile();
    const clock = () => 1_700_000_000_000;
    const stores = [sqliteStore(file, { clock }), sqliteStore(file, { clock }), sqliteStore(file, { clock })];
    let admitted = 0;
    for (let i = 0; i < 60; i += 1) {
      const outcome = asked(stores[(i * i) % 3]?.runSync(consume(charge(rule))));
      if (outcome.allowed) admitted += 1;
    }
    expect(admitted).toBe(rule.algorithm === 'token-bucket' ? rule.capacity : (rule as { limit: number }).limit);
  });

  it('is refused without waiting when somebody else used up the budget and holds the lock', () => {
    const file = newFile();
    const store = sqliteStore(file, { busyTimeout: '5s' });
    const five = charge(fixedWindow(5));
    store.runSync(consume(five));
    sqliteStore(file).runSync(consume({ ...five, cost: 4 }));
    open(file).exec('BEGIN IMMEDIATE');
    expect(asked(store.runSync(consume(five))).allowed).toBe(false);
  });

  it('is admitted when somebody else gave the budget back, though it was known to be used up', () => {
    const file = newFile();
    const store = sqliteStore(file);
    const five = charge(fixedWindow(5), 5);
    store.runSync(consume(five));
    expect(asked(store.runSync(consume(five))).allowed).toBe(false);
    sqliteStore(file).runSync({ op: 'reset', ledgers: [five.ledger] });
    expect(asked(store.runSync(consume(five))).allowed).toBe(true);
  });

  it('is a fault when its statement fails, and nothing is charged', () => {
    const file = newFile();
    const store = sqliteStore(file);
    const five = charge(fixedWindow(5));
    store.runSync(consume(five));
    const other = open(file);
    other.exec("CREATE TRIGGER no BEFORE UPDATE ON limiter_ledger BEGIN SELECT RAISE(ABORT, 'no'); END");
    expect(store.runSync(consume(five))).toMatchObject({ ok: false, fault: 'refused' });
    other.exec('DROP TRIGGER no');
    expect(only(store.runSync(peek(five))).remaining).toBe(4);
  });
});

describe('a tick', () => {
  it('charges thousands of ledgers in one transaction, and the first of them again, without losing a charge', async () => {
    const file = newFile();
    const store = sqliteStore(file);
    const steps = Array.from({ length: 255 }, (_, i) =>
      consume(...Array.from({ length: 40 }, (_, k) => charge(fixedWindow(5), 1, [`${i}`, `${k}`]))),
    );
    const outcomes = await store.run([...steps, steps[0] as Step]);
    expect(outcomes.every(({ ok }) => ok)).toBe(true);
    expect(asked(outcomes[255]).verdicts.every(({ remaining }) => remaining === 3)).toBe(true);
    expect(count(file, 'limiter_ledger')).toBe(255 * 40);
    expect(value(open(file), 'SELECT sum(amount) FROM limiter_ledger')).toBe(256 * 40);
  });

  it('that charges, resets and charges again keeps the last charge only', async () => {
    const file = newFile();
    const store = sqliteStore(file);
    const five = charge(fixedWindow(5), 2);
    const reset: Step = { op: 'reset', ledgers: [five.ledger] };
    const outcomes = await store.run([consume(five), reset, consume(charge(fixedWindow(5), 1)), peek(five)]);
    expect(only(outcomes[3]).remaining).toBe(4);
    expect(value(open(file), 'SELECT amount FROM limiter_ledger')).toBe(1);
    await store.run([consume(five), reset]);
    expect(count(file, 'limiter_ledger')).toBe(0);
    expect(only(store.runSync(peek(five))).remaining).toBe(5);
  });
});
