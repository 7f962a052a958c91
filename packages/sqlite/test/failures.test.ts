import { copyFileSync, openSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import type { Outcome } from '@limiter/core';
import { describe, expect, it } from 'vitest';
import { type SqliteDatabase, sqliteStore } from '../src/index.js';
import { open, openWriteAhead, rows, value } from './support/database.js';
import { newFile } from './support/files.js';
import { asked, charge, consume, faultOf, fixedWindow, only, peek } from './support/steps.js';

const FIVE = fixedWindow(5);

function used(outcome: Outcome): number {
  return 5 - only(outcome).remaining;
}

describe('a file that somebody else has locked', () => {
  it('is unreachable after busyTimeout, nothing was charged, and it works again when the lock is gone', () => {
    const file = newFile();
    const store = sqliteStore(file, { busyTimeout: '40ms' });
    asked(store.runSync(consume(charge(FIVE))));
    const other = open(file);
    other.exec('BEGIN IMMEDIATE');
    const began = performance.now();
    const outcome = store.runSync(consume(charge(FIVE)));
    const tookMs = performance.now() - began;
    expect(faultOf(outcome)).toMatch(/^unreachable: BUSY/);
    expect(tookMs).toBeGreaterThanOrEqual(40);
    expect(tookMs).toBeLessThan(1_000);
    other.exec('COMMIT');
    expect(used(store.runSync(consume(charge(FIVE))))).toBe(2);
  });

  it('still answers peeks and denials, which need no lock', () => {
    const file = newFile();
    const store = sqliteStore(file);
    asked(store.runSync(consume(charge(FIVE, 4))));
    open(file).exec('BEGIN IMMEDIATE');
    expect(used(store.runSync(peek(charge(FIVE))))).toBe(4);
    expect(asked(store.runSync(consume(charge(FIVE, 2)))).allowed).toBe(false);
    expect(faultOf(store.runSync(consume(charge(FIVE, 1))))).toMatch(/^unreachable/);
  });

  it('stalls callers once: for the next second each waits 2 ms at most', () => {
    const file = newFile();
    const store = sqliteStore(file, { busyTimeout: '150ms' });
    asked(store.runSync(consume(charge(FIVE))));
    const other = open(file);
    other.exec('BEGIN IMMEDIATE');
    expect(faultOf(store.runSync(consume(charge(FIVE))))).toMatch(/^unreachable/);
    const began = performance.now();
    for (let i = 0; i < 3; i += 1) expect(faultOf(store.runSync(consume(charge(FIVE))))).toMatch(/^unreachable/);
    expect(performance.now() - began).toBeLessThan(150);
    other.exec('COMMIT');
    expect(used(store.runSync(consume(charge(FIVE))))).toBe(2);
  });

  it('does not hold up the event loop in the asynchronous form, and is waited for', async () => {
    const file = newFile();
    const store = sqliteStore(file, { busyTimeout: '5s' });
    asked(store.runSync(consume(charge(FIVE))));
    const other = open(file);
    other.exec('BEGIN IMMEDIATE');
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
      if (turns === 10) other.exec('COMMIT');
    }, 2);
    const [outcome] = await store.run([consume(charge(FIVE))]);
    clearInterval(timer);
    expect(used(outcome as Outcome)).toBe(2);
    expect(turns).toBeGreaterThanOrEqual(10);
  });

  it('is opened when it is free, if it was locked when the store was made', async () => {
    const file = newFile();
    const first = sqliteStore(file);
    first.runSync(consume(charge(FIVE)));
    await first.close?.();
    const other = open(file);
    other.exec('PRAGMA locking_mode = EXCLUSIVE');
    other.exec("UPDATE limiter_meta SET value = '' WHERE name = 'swept'");
    const store = sqliteStore(file, { busyTimeout: '10ms' });
    expect(faultOf(store.runSync(peek(charge(FIVE))))).toMatch(/^unreachable/);
    other.close();
    expect(used(store.runSync(consume(charge(FIVE))))).toBe(2);
  });
});

describe('a disk that is full', () => {
  /** As many ledgers as fit, with keys of 2 kB. */
  function fill(): { file: string; database: SqliteDatabase; store: ReturnType<typeof sqliteStore>; kept: number } {
    const file = newFile();
    const database = openWriteAhead(file);
    const store = sqliteStore(database);
    asked(store.runSync(consume(charge(FIVE, 1, ['known']))));
    database.exec('PRAGMA max_page_count = 40');
    let kept = 0;
    while (store.runSync(consume(charge(FIVE, 1, [`${kept}${'x'.repeat(2_000)}`]))).ok) kept += 1;
    return { file, database, store, kept };
  }

  it('refuses what does not fit, keeps what was charged, and works again when there is room', () => {
    const { database, store, kept } = fill();
    expect(kept).toBeGreaterThan(5);
    const next = charge(FIVE, 1, [`${kept}${'x'.repeat(2_000)}`]);
    expect(faultOf(store.runSync(consume(next)))).toBe('refused: FULL');
    expect(used(store.runSync(peek(next)))).toBe(0);
    for (let i = 0; i < kept; i += 1) {
      expect(used(store.runSync(peek(charge(FIVE, 1, [`${i}${'x'.repeat(2_000)}`]))))).toBe(1);
    }
    database.exec('PRAGMA max_page_count = 1000');
    expect(used(store.runSync(consume(next)))).toBe(1);
    expect(value(database, 'PRAGMA integrity_check')).toBe('ok');
  });

  it('charges none of several limits when one of them does not fit any more', () => {
    const { database, store } = fill();
    const small = charge(FIVE, 1, ['small']);
    const large = charge(FIVE, 1, ['y'.repeat(30_000)], 'test/large');
    expect(faultOf(store.runSync(consume(small, large)))).toBe('refused: FULL');
    database.exec('PRAGMA max_page_count = 1000');
    expect(used(store.runSync(peek(small)))).toBe(0);
  });

  it('fails only the step that does not fit, of all that share a transaction', async () => {
    const { store, kept } = fill();
    const known = charge(FIVE, 1, ['known']);
    const outcomes = await store.run([
      consume(known),
      consume(charge(FIVE, 1, [`${kept}${'x'.repeat(2_000)}`])),
      consume(known),
    ]);
    expect(outcomes.map(({ ok }) => ok)).toEqual([true, false, true]);
    expect([used(outcomes[0] as Outcome), used(outcomes[2] as Outcome)]).toEqual([2, 3]);
    expect(faultOf(outcomes[1])).toBe('refused: FULL');
  });

  it('makes room for itself by what has expired', () => {
    const database = openWriteAhead(newFile());
    let now = 1_000_000;
    const store = sqliteStore(database, { clock: () => now });
    database.exec('PRAGMA max_page_count = 40');
    const short = fixedWindow(5, 1_000);
    const one = (round: number, i: number) => consume(charge(short, 1, [`${round} ${i} ${'x'.repeat(2_000)}`]));
    let fit = 0;
    while (store.runSync(one(0, fit)).ok) fit += 1;
    for (let round = 1; round < 10; round += 1) {
      now += 20_000;
      // The first tries meet the full disk, and drop what has expired.
      let faults = 0;
      for (let i = 0; i < fit; i += 1) if (!store.runSync(one(round, i)).ok) faults += 1;
      expect(faults).toBeLessThan(fit / 4);
    }
  });
});

describe('a file that may only be read', () => {
  it('refuses charges, and answers peeks and denials', () => {
    const file = newFile();
    const writer = sqliteStore(file);
    asked(writer.runSync(consume(charge(FIVE, 4))));
    const database = open(file);
    database.exec('PRAGMA query_only = ON');
    const store = sqliteStore(database);
    expect(faultOf(store.runSync(consume(charge(FIVE))))).toMatch(/^refused: READONLY/);
    expect(used(store.runSync(peek(charge(FIVE))))).toBe(4);
    expect(asked(store.runSync(consume(charge(FIVE, 2)))).allowed).toBe(false);
    expect(faultOf(store.runSync({ op: 'reset', ledgers: [charge(FIVE).ledger] }))).toMatch(/^refused/);
    expect(used(writer.runSync(peek(charge(FIVE))))).toBe(4);
  });
});

describe('a damaged file', () => {
  it('that is no database is corrupt, is left as it is, and a good file in its place works at the next step', () => {
    const file = newFile();
    const text = 'this is a text file, and a long one: '.repeat(200);
    writeFileSync(file, text);
    const store = sqliteStore(file);
    expect(faultOf(store.runSync(consume(charge(FIVE))))).toBe('corrupt: NOTADB');
    expect(readFileSync(file, 'utf8')).toBe(text);
    rmSync(file);
    expect(used(store.runSync(consume(charge(FIVE))))).toBe(1);
  });

  it('with a page overwritten is corrupt for what lies there, and a restored copy works without a restart', async () => {
    const file = newFile();
    const first = sqliteStore(file);
    for (let i = 0; i < 600; i += 1) first.runSync(consume(charge(FIVE, 1, [`customer ${i}`])));
    await first.close?.();
    const copy = newFile();
    copyFileSync(file, copy);
    const pages = statSync(file).size / 4_096;
    const descriptor = openSync(file, 'r+');
    for (let page = 6; page < pages; page += 1)
      writeSync(descriptor, Buffer.alloc(4_096, 0xee), 0, 4_096, page * 4_096);

    const store = sqliteStore(file);
    const outcomes = Array.from({ length: 600 }, (_, i) => store.runSync(peek(charge(FIVE, 1, [`customer ${i}`]))));
    const faults = outcomes.filter(({ ok }) => !ok);
    expect(faults.length).toBeGreaterThan(100);
    for (const fault of faults) expect(faultOf(fault)).toMatch(/^corrupt: CORRUPT/);

    copyFileSync(copy, file);
    for (const suffix of ['-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
    expect(faultOf(store.runSync(peek(charge(FIVE, 1, ['customer 599']))))).not.toMatch(/refused/);
    expect(used(store.runSync(consume(charge(FIVE, 1, ['customer 599']))))).toBe(2);
    await store.close?.();
  });

  it.each([
    ['a negative amount', 'amount = -1'],
    ['a number beyond 2^53-1', 'sum = 9007199254740993'],
    ['a log that is no list', "log = x'0102'"],
    ['a log whose parts do not fit', 'sum = 100000'],
    ['a log that is not there', 'log = NULL'],
  ])('with %s in a row is corrupt for that ledger only, and a reset makes it new', (_what, damage) => {
    const file = newFile();
    const store = sqliteStore(file);
    const log = charge({ algorithm: 'sliding-window-log', limit: 9, windowMs: 60_000 });
    asked(store.runSync(consume(log)));
    open(file).exec(`UPDATE limiter_ledger SET ${damage}`);
    expect(faultOf(store.runSync(consume(charge(FIVE), log)))).toMatch(/^corrupt/);
    expect(used(store.runSync(peek(charge(FIVE))))).toBe(0);
    expect(store.runSync({ op: 'reset', ledgers: [log.ledger] }).ok).toBe(true);
    expect(only(store.runSync(consume(log))).remaining).toBe(8);
  });

  it('with nodes of a log missing is corrupt when they are needed, and nothing is written', () => {
    const file = newFile();
    let now = 1_000_000;
    const store = sqliteStore(file, { clock: () => now });
    const log = charge({ algorithm: 'sliding-window-log', limit: 200, windowMs: 60_000 });
    for (let i = 0; i < 200; i += 1) {
      now += 1;
      asked(store.runSync(consume(log)));
    }
    const database = open(file);
    const ledgers = () => rows(database, 'SELECT * FROM limiter_ledger');
    database.exec('DELETE FROM limiter_node');
    const before = ledgers();
    now += 59_900;
    expect(faultOf(store.runSync(consume(log)))).toMatch(/^corrupt: node/);
    expect(ledgers()).toEqual(before);
    expect(used(store.runSync(consume(charge(FIVE))))).toBe(1);
  });
});

describe('a database that cannot be used', () => {
  it('was closed by its owner: unreachable', () => {
    const database = open(newFile());
    const store = sqliteStore(database);
    database.close();
    expect(faultOf(store.runSync(consume(charge(FIVE))))).toMatch(
      /^unreachable: .*(database connection is not open|statement has been finalized)/,
    );
  });

  it('is in the middle of a transaction of its owner: an error, and the transaction is left alone', () => {
    const database = open(newFile());
    const store = sqliteStore(database);
    database.exec('CREATE TABLE orders (id INTEGER)');
    database.exec('BEGIN; INSERT INTO orders VALUES (1)');
    expect(() => store.runSync(consume(charge(FIVE)))).toThrow(expect.objectContaining({ code: 'ERR_LIMITER_CLIENT' }));
    database.exec('COMMIT');
    expect(value(database, 'SELECT count(*) FROM orders')).toBe(1);
    expect(used(store.runSync(consume(charge(FIVE))))).toBe(1);
  });

  it('lost its tables: refused', () => {
    const database = open(newFile());
    const store = sqliteStore(database);
    database.exec('DROP TABLE limiter_ledger');
    expect(faultOf(store.runSync(consume(charge(FIVE))))).toBe('refused: ERROR');
  });
});
