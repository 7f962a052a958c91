import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createLimiter, fixedWindow as fixedWindowLimit } from '@limiter/core';
import { describe, expect, it } from 'vitest';
import { type SqliteStoreOptions, sqliteStore } from '../src/index.js';
import { open, openWriteAhead, value } from './support/database.js';
import { count } from './support/dump.js';
import { newFile } from './support/files.js';
import { asked, charge, consume, fixedWindow, only, peek } from './support/steps.js';

const FIVE = fixedWindow(5);

describe('sqliteStore of a path', () => {
  it('keeps what was used when the process ends and another begins', async () => {
    const file = newFile();
    const first = sqliteStore(file);
    asked(first.runSync(consume(charge(FIVE, 3))));
    await first.close?.();
    expect(only(sqliteStore(file).runSync(peek(charge(FIVE)))).remaining).toBe(2);
  });

  it('writes ahead: WAL, and no fsync at each commit', () => {
    const file = newFile();
    sqliteStore(file).runSync(consume(charge(FIVE)));
    expect(value(open(file), 'PRAGMA journal_mode')).toBe('wal');
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
  });

  it('leaves one file behind when the last one closes it, with everything in it', async () => {
    const file = newFile();
    const store = sqliteStore(file);
    for (let i = 0; i < 100; i += 1) store.runSync(consume(charge(FIVE, 1, [`customer ${i}`])));
    await store.close?.();
    await store.close?.();
    expect(existsSync(`${file}-wal`)).toBe(false);
    expect(count(file, 'limiter_ledger')).toBe(100);
  });

  it('needs no timer: a process that has asked ends by itself', () => {
    const source = `
      import { sqliteStore } from ${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)};
      const store = sqliteStore(${JSON.stringify(newFile())});
      const charges = [{
        ledger: { name: 'a/b', grid: 'f1000', values: [] },
        rule: { algorithm: 'fixed-window', limit: 5, windowMs: 1000, align: 'clock', offsetMs: 0 },
        cost: 1, holdBack: 0, enforce: true,
      }];
      store.runSync({ op: 'consume', charges });
      const [outcome] = await store.run([{ op: 'consume', charges }]);
      console.log(outcome.allowed);
    `;
    const options = ['--conditions=@limiter/source', '--import', 'tsx', '--input-type=module', '--eval', source];
    const child = spawnSync(process.execPath, options, { encoding: 'utf8', timeout: 20_000 });
    expect([child.stdout.trim(), child.status, child.stderr]).toEqual(['true', 0, '']);
  });

  it('is an error when the folder is not there, or the file is a folder', () => {
    const mistake = expect.objectContaining({ code: 'ERR_LIMITER_CLIENT' });
    expect(() => sqliteStore(join(dirname(newFile()), 'nowhere', 'limits.db'))).toThrow(mistake);
    const folder = newFile();
    mkdirSync(folder);
    expect(() => sqliteStore(folder)).toThrow(mistake);
  });
});

describe('sqliteStore of a database', () => {
  it('leaves its settings, its other tables and the connection as they are', async () => {
    const database = open(newFile());
    database.exec('PRAGMA busy_timeout = 1234');
    database.exec('CREATE TABLE orders (id INTEGER); INSERT INTO orders VALUES (7)');
    const settings = () =>
      ['journal_mode', 'synchronous', 'busy_timeout'].map((name) => value(database, `PRAGMA ${name}`));
    const before = settings();
    const store = sqliteStore(database, { busyTimeout: '10ms' });
    asked(store.runSync(consume(charge(FIVE))));
    await store.run([consume(charge(FIVE)), consume(charge(FIVE))]);
    await store.close?.();
    expect(settings()).toEqual(before);
    expect(value(database, 'SELECT id FROM orders')).toBe(7);
    expect(only(sqliteStore(database).runSync(peek(charge(FIVE)))).remaining).toBe(2);
  });

  it('waits for a lock as long as busyTimeout says, not as long as the connection would', () => {
    const file = newFile();
    const database = openWriteAhead(file);
    database.exec('PRAGMA busy_timeout = 30000');
    const store = sqliteStore(database, { busyTimeout: '20ms' });
    const other = open(file);
    other.exec('BEGIN IMMEDIATE');
    const began = performance.now();
    expect(store.runSync(consume(charge(FIVE))).ok).toBe(false);
    expect(performance.now() - began).toBeLessThan(5_000);
    other.exec('COMMIT');
  });

  it('works where the journal is no write-ahead log, and whatever the connection reads whole numbers as', () => {
    const file = newFile();
    const database = open(file);
    // better-sqlite3 can be told to read whole numbers as BigInt.
    (database as { defaultSafeIntegers?(on: boolean): void }).defaultSafeIntegers?.(true);
    const store = sqliteStore(database);
    const other = sqliteStore(open(file));
    for (let i = 0; i < 3; i += 1) {
      store.runSync(consume(charge(FIVE)));
      other.runSync(consume(charge(FIVE)));
    }
    expect(only(store.runSync(peek(charge(FIVE)))).remaining).toBe(0);
    expect(value(database, 'PRAGMA journal_mode')).toBe('delete');
  });

  it('is an error when it was closed, or is no database', () => {
    const database = open(newFile());
    database.close();
    const mistake = expect.objectContaining({ code: 'ERR_LIMITER_CLIENT' });
    expect(() => sqliteStore(database)).toThrow(mistake);
    for (const wrong of [undefined, null, 7, {}, { prepare: true }]) {
      expect(() => sqliteStore(wrong as unknown as string)).toThrow(mistake);
    }
  });
});

describe('the tables', () => {
  it('are made once, by whoever comes first', () => {
    const file = newFile();
    const stores = Array.from({ length: 5 }, () => sqliteStore(file));
    for (const store of stores) asked(store.runSync(consume(charge(FIVE))));
    expect(only(sqliteStore(file).runSync(peek(charge(FIVE)))).remaining).toBe(0);
  });

  it('of a newer version are an error that says what to do, and stay as they are', () => {
    const file = newFile();
    sqliteStore(file);
    open(file).exec("UPDATE limiter_meta SET value = 3 WHERE name = 'version'");
    expect(() => sqliteStore(file)).toThrow(
      expect.objectContaining({
        code: 'ERR_LIMITER_SCHEMA',
        message: expect.stringMatching(/version 3.*version 2.*update the package/),
      }),
    );
    expect(value(open(file), "SELECT value FROM limiter_meta WHERE name = 'version'")).toBe(3);
  });

  it('of a build from before the first release are an error that says what to do, and stay as they are', () => {
    const file = newFile();
    sqliteStore(file);
    open(file).exec("UPDATE limiter_meta SET value = 1 WHERE name = 'version'");
    expect(() => sqliteStore(file)).toThrow(
      expect.objectContaining({
        code: 'ERR_LIMITER_SCHEMA',
        message: expect.stringMatching(/version 1.*version 2.*drop limiter_ledger/),
      }),
    );
    expect(value(open(file), "SELECT value FROM limiter_meta WHERE name = 'version'")).toBe(1);
  });
});

describe('what a step writes', () => {
  it('is nothing for a refusal or a peek: no page goes to the write-ahead log', () => {
    const file = newFile();
    const store = sqliteStore(file);
    asked(store.runSync(consume(charge(FIVE, 4))));
    const before = statSync(`${file}-wal`).size;
    for (let i = 0; i < 50; i += 1) {
      expect(asked(store.runSync(consume(charge(FIVE, 2)))).allowed).toBe(false);
      store.runSync(peek(charge(FIVE)));
    }
    expect(statSync(`${file}-wal`).size).toBe(before);
  });

  it('is one row for a log of a few entries, whatever they cost', () => {
    const file = newFile();
    const store = sqliteStore(file);
    const log = charge({ algorithm: 'sliding-window-log', limit: 2 ** 53 - 1, windowMs: 60_000 }, 2 ** 46);
    for (let i = 0; i < 40; i += 1) asked(store.runSync(consume(log)));
    expect([count(file, 'limiter_ledger'), count(file, 'limiter_node')]).toEqual([1, 0]);
  });
});

describe('the options', () => {
  it('keep stores with different prefixes apart in one file', () => {
    const file = newFile();
    const prefixes = ['', 'a', 'a|', 'a|:someone', '!once|', '\ud800'];
    const stores = prefixes.map((prefix) => sqliteStore(file, { prefix }));
    for (const [i, store] of stores.entries()) {
      for (let n = 0; n <= i % 5; n += 1) asked(store.runSync(consume(charge(FIVE))));
    }
    expect(stores.map((store) => 5 - only(store.runSync(peek(charge(FIVE)))).remaining)).toEqual([1, 2, 3, 4, 5, 1]);
  });

  it.each<[string, unknown, string]>([
    ['clock', 7, 'ERR_LIMITER_OPTION'],
    ['prefix', 7, 'ERR_LIMITER_OPTION'],
    ['busyTimeout', '0ms', 'ERR_LIMITER_DURATION'],
    ['busyTimeout', 50, 'ERR_LIMITER_DURATION'],
  ])('%s: %j is an error', (name, value, code) => {
    const options = { [name]: value } as SqliteStoreOptions;
    expect(() => sqliteStore(newFile(), options)).toThrow(expect.objectContaining({ code }));
  });

  it('say what the store is: synchronous, atomic, durable, on its own clock or the one it was given', () => {
    expect(sqliteStore(newFile()).traits).toEqual({
      sync: true,
      atomic: 'always',
      clock: 'own',
      durable: 'yes',
      fails: 'possible',
      algorithms: ['fixed-window', 'sliding-window-log', 'token-bucket'],
    });
    expect(sqliteStore(newFile(), { clock: () => 1 }).traits.clock).toBe('caller');
  });
});

describe('a limiter on it', () => {
  it('decides at once or later, and a second process goes on where the first was', async () => {
    const file = newFile();
    const make = () =>
      createLimiter({
        name: 'api',
        store: sqliteStore(file),
        limits: { day: fixedWindowLimit({ limit: 3, window: '1d' }) },
        onStoreFailure: 'deny',
      });
    const here = make();
    const there = make();
    expect(here.consumeSync('you').allowed).toBe(true);
    const decision = await there.consume('you');
    expect([decision.allowed, decision.limits.day.remaining, decision.decidedBy]).toEqual([true, 1, 'store']);
    await here.refund(decision.receipt as string);
    expect(there.peekSync('you').limits.day.remaining).toBe(2);
  });
});
