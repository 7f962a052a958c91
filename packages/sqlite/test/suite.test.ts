import type { Ledger } from '@limiter/core';
import { describeStore, type FactoryOptions, type StoreUnderTest } from '@limiter/store-suite';
import { openDatabase } from '../src/driver.js';
import { type SqliteDatabase, sqliteStore } from '../src/index.js';
import { ledgerKey } from '../src/keys.js';
import { dump } from './support/dump.js';
import { newFile } from './support/files.js';

function damage(database: SqliteDatabase, ledger: Ledger): void {
  database.prepare('UPDATE limiter_ledger SET amount = -1 WHERE key = ?').run(ledgerKey('', ledger));
}

/** A path, which the store opens; another handle is another connection, as another process would have it. */
function ofPath({ clock }: FactoryOptions): StoreUnderTest {
  const file = newFile();
  const stores = [sqliteStore(file, { clock })];
  return {
    store: stores[0] as (typeof stores)[0],
    second(options) {
      const store = sqliteStore(file, options);
      stores.push(store);
      return store;
    },
    dump: () => dump(file),
    damage(ledger) {
      const database = openDatabase(file);
      damage(database, ledger);
      database.close();
    },
    async close() {
      for (const store of stores) await store.close?.();
    },
  };
}

/** A database that is handed in, in memory: no file, no write-ahead log. */
function ofDatabase({ clock }: FactoryOptions): StoreUnderTest {
  const database = openDatabase(':memory:');
  return {
    store: sqliteStore(database, { clock }),
    damage: (ledger) => damage(database, ledger),
    close: () => void database.close(),
  };
}

describeStore('sqliteStore of a path', ofPath);

describeStore('sqliteStore of a database in memory', ofDatabase, {
  capabilities: {
    unsupported: {
      'second-handle': 'a database in memory has one connection',
      dump: 'the same rows are compared in a file',
    },
  },
});
