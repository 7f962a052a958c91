import type { AskOutcome, Outcome } from '@limiter/core';
import { describe, expect, it } from 'vitest';
import { type SqliteDatabase, sqliteStore } from '../src/index.js';
import { ledgerKey } from '../src/keys.js';
import { openWriteAhead } from './support/database.js';
import { newFile } from './support/files.js';
import { asked, charge, consume, faultOf, fixedWindow, only, peek } from './support/steps.js';

const FIVE = fixedWindow(5);

/** A store on a connection that counts its transactions. */
function counted() {
  const commits: string[] = [];
  const database = openWriteAhead(newFile());
  const counting: SqliteDatabase = {
    exec: (sql) => database.exec(sql),
    close: () => database.close(),
    prepare(sql) {
      const statement = database.prepare(sql);
      if (sql !== 'COMMIT') return statement;
      return {
        get: () => statement.get(),
        all: () => statement.all(),
        run() {
          commits.push(sql);
          return statement.run();
        },
      };
    },
  };
  return { database, store: sqliteStore(counting), commits };
}

describe('the asynchronous form', () => {
  it('decides the questions of one turn in one transaction, in order', async () => {
    const { store, commits } = counted();
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => store.run([consume(charge(FIVE))])));
    expect(outcomes.map(([outcome]) => only(outcome).remaining)).toEqual([4, 3, 2, 1, 0, 0, 0, 0]);
    expect(outcomes.map(([outcome]) => (outcome as AskOutcome).allowed)).toEqual([1, 1, 1, 1, 1, 0, 0, 0].map(Boolean));
    expect(commits).toHaveLength(1);
  });

  it('lets go of the lock after 256 steps', async () => {
    const { store, commits } = counted();
    await Promise.all(Array.from({ length: 600 }, () => store.run([consume(charge(FIVE))])));
    // Three for the steps, and one for the sweep after each transaction with enough charges: here none.
    expect(commits).toHaveLength(3);
  });

  it('answers each caller in the order of its steps, whatever their kind', async () => {
    const { store } = counted();
    const one = charge(FIVE);
    const first = only((await store.run([consume(one)]))[0]);
    const outcomes = await store.run([
      consume(one),
      {
        op: 'adjust',
        adjustments: [{ ledger: one.ledger, rule: FIVE, mark: first.mark, charged: 1, change: 'give-back', amount: 1 }],
      },
      peek(one),
      { op: 'reset', ledgers: [one.ledger] },
      peek(one),
    ]);
    expect(outcomes.map((outcome) => outcome.ok && outcome.op)).toEqual(['consume', 'adjust', 'peek', 'reset', 'peek']);
    expect([only(outcomes[0]).remaining, only(outcomes[2]).remaining, only(outcomes[4]).remaining]).toEqual([3, 4, 5]);
    expect(await store.run([])).toEqual([]);
  });

  it('lets the fault of one step be the fault of that step only', async () => {
    const { database, store, commits } = counted();
    const bad = charge(FIVE, 1, ['bad']);
    const good = charge(FIVE, 1, ['good']);
    store.runSync(consume(bad));
    const damage = database.prepare('UPDATE limiter_ledger SET amount = -7 WHERE key = ?');
    damage.run(ledgerKey('', bad.ledger));
    commits.length = 0;
    const outcomes = await store.run([consume(good), consume(good, bad), consume(bad), consume(good)]);
    expect(outcomes.map(({ ok }) => ok)).toEqual([true, false, false, true]);
    expect(faultOf(outcomes[1])).toMatch(/^corrupt/);
    expect(only(outcomes[3]).remaining).toBe(3);
    expect(commits).toHaveLength(1);
  });

  it('leaves out a step whose caller has given up before it started, and no other', async () => {
    const { store } = counted();
    const controller = new AbortController();
    const early = new AbortController();
    early.abort(new Error('too early'));
    const runs = [
      store.run([consume(charge(FIVE))]),
      store.run([consume(charge(FIVE)), consume(charge(FIVE))], controller.signal),
      store.run([consume(charge(FIVE))], early.signal),
      store.run([consume(charge(FIVE))]),
    ];
    controller.abort(new Error('too late'));
    const outcomes = (await Promise.all(runs)).flat();
    expect(outcomes.map(({ ok }) => ok)).toEqual([true, false, false, false, true]);
    expect(faultOf(outcomes[1])).toBe('unreachable: too late');
    expect(faultOf(outcomes[3])).toBe('unreachable: too early');
    expect(only(store.runSync(peek(charge(FIVE)))).remaining).toBe(3);
  });

  it('answers everything that was asked before close, and nothing after it', async () => {
    const store = sqliteStore(newFile());
    const runs = Array.from({ length: 300 }, () => store.run([consume(charge(FIVE))]));
    const closing = store.close?.();
    const late = store.run([consume(charge(FIVE))]);
    const outcomes = (await Promise.all(runs)).flat();
    await closing;
    expect(outcomes.every(({ ok }) => ok)).toBe(true);
    expect(outcomes.filter((outcome: Outcome) => asked(outcome).allowed)).toHaveLength(5);
    expect(faultOf((await late)[0])).toBe('unreachable: ERR_LIMITER_CLOSED');
    expect(faultOf(store.runSync(peek(charge(FIVE))))).toBe('unreachable: ERR_LIMITER_CLOSED');
  });

  it('rejects with the mistake when the clock gives no time, and then nothing was charged', async () => {
    let now = Number.NaN;
    const store = sqliteStore(newFile(), { clock: () => now });
    const mistake = expect.objectContaining({ code: 'ERR_LIMITER_CLOCK' });
    await expect(store.run([consume(charge(FIVE))])).rejects.toEqual(mistake);
    expect(() => store.runSync(consume(charge(FIVE)))).toThrow(mistake);
    now = 1_000;
    expect(only(store.runSync(peek(charge(FIVE)))).remaining).toBe(5);
  });
});
