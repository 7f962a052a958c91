/** The same question to each: may this customer of 1,000 do one more? */
import { join } from 'node:path';
import { createLimiter, fixedWindow } from '@limiter/core';
import { sqliteStore } from '@limiter/sqlite';
import Database from 'better-sqlite3';
import { RateLimiterSQLite, RateLimiterUnion } from 'rate-limiter-flexible';
import type { Rival } from './rounds.js';

const KEYS: readonly string[] = Array.from({ length: 1_000 }, (_, i) => `customer-${i}`);
const key = (i: number): string => KEYS[(i * 7) % 1_000] as string;
const MANY = 1_000_000_000;
const HOUR_S = 3_600;

export type Verdict = 'allowed' | 'denied';

function ours(file: string, verdict: Verdict, count: 1 | 3) {
  const limit = verdict === 'allowed' ? MANY : 0;
  const one = fixedWindow({ limit, window: '1h' });
  const store = sqliteStore(file);
  const limits =
    count === 1
      ? { one }
      : { one, two: fixedWindow({ limit, window: '2h' }), three: fixedWindow({ limit, window: '3h' }) };
  return createLimiter({ name: 'bench', store, limits, onStoreFailure: 'throw' });
}

function walDatabase(file: string): Database.Database {
  const database = new Database(file);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = NORMAL');
  return database;
}

async function flexible(file: string, verdict: Verdict, count: 1 | 3) {
  const storeClient = walDatabase(file);
  const points = verdict === 'allowed' ? MANY : 0;
  const make = (tableName: string, hours: number) =>
    new Promise<RateLimiterSQLite>((resolve, reject) => {
      const limiter: RateLimiterSQLite = new RateLimiterSQLite(
        { storeClient, storeType: 'better-sqlite3', tableName, keyPrefix: tableName, points, duration: hours * HOUR_S },
        (error?: Error | null) => (error ? reject(error) : resolve(limiter)),
      );
      setImmediate(() => resolve(limiter));
    });
  const one = await make('one', 1);
  return count === 1 ? one : new RateLimiterUnion(one, await make('two', 2), await make('three', 3));
}

/** What SQLite itself takes for a question of this kind, written by hand: a count and an end, no numbers, no rules. */
function floor(file: string): Record<'transaction' | 'upsert' | 'sixteen' | 'read', Rival['run']> {
  const database = walDatabase(file);
  database.exec('CREATE TABLE floor (key TEXT PRIMARY KEY, used INTEGER, ends INTEGER) WITHOUT ROWID');
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const select = database.prepare('SELECT used, ends FROM floor WHERE key = ?').raw();
  const replace = database.prepare('REPLACE INTO floor VALUES (?, ?, ?)');
  const check = (i: number): void => {
    const [used = 0, ends = 0] = (select.get(key(i)) as [number, number] | undefined) ?? [];
    const now = Date.now();
    if (used < MANY) replace.run(key(i), now < ends ? used + 1 : 1, now < ends ? ends : now + 1_000 * HOUR_S);
  };
  return {
    transaction(calls, from) {
      for (let i = from; i < from + calls; i += 1) {
        begin.run();
        check(i);
        commit.run();
      }
    },
    upsert(calls, from) {
      for (let i = from; i < from + calls; i += 1) replace.run(key(i), i, MANY);
    },
    sixteen(calls, from) {
      for (let i = from; i < from + calls; i += 16) {
        begin.run();
        for (let k = 0; k < 16; k += 1) check(i + k);
        commit.run();
      }
    },
    read(calls, from) {
      for (let i = from; i < from + calls; i += 1) select.get(key(i));
    },
  };
}

export async function rivals(folder: string, verdict: Verdict, count: 1 | 3): Promise<readonly Rival[]> {
  const file = (name: string): string => join(folder, `${name}-${verdict}-${count}.db`);
  const limiter = ours(file('ours'), verdict, count);
  const peer = await flexible(file('flexible'), verdict, count);
  const expected = verdict === 'allowed';
  const wrong = (): never => {
    throw new Error(`a call of the ${verdict} case was answered the other way`);
  };
  const ask = async (i: number): Promise<void> => {
    try {
      await peer.consume(key(i), 1);
      if (!expected) wrong();
    } catch (refusal) {
      if (expected || refusal instanceof Error) throw refusal;
    }
  };
  const hand = floor(file('floor'));
  const all: Rival[] = [
    {
      name: 'ours, sync',
      run(calls, from) {
        for (let i = from; i < from + calls; i += 1) if (limiter.consumeSync(key(i)).allowed !== expected) wrong();
      },
    },
    {
      name: 'ours, async, 256 in flight',
      async run(calls, from) {
        const decisions = await Promise.all(Array.from({ length: calls }, (_, i) => limiter.consume(key(from + i))));
        for (const { allowed } of decisions) if (allowed !== expected) wrong();
      },
    },
    {
      name: 'rate-limiter-flexible, one at a time',
      async run(calls, from) {
        for (let i = from; i < from + calls; i += 1) await ask(i);
      },
    },
    {
      name: 'rate-limiter-flexible, 256 in flight',
      async run(calls, from) {
        await Promise.all(Array.from({ length: calls }, (_, i) => ask(from + i)));
      },
    },
  ];
  if (verdict === 'denied') all.push({ name: 'floor: one SELECT', run: hand.read });
  else {
    all.push({ name: 'floor: one transaction', run: hand.transaction });
    all.push({ name: 'floor: one REPLACE', run: hand.upsert });
    all.push({ name: 'floor: 16 checks a transaction', run: hand.sixteen });
  }
  return all;
}
