/** What is stored in a file, as text and as numbers. */
import { openDatabase } from '../../src/driver.js';
import { rows, value } from './database.js';

export function dump(file: string): string {
  const database = openDatabase(file);
  try {
    const text = (one: unknown): string => (one instanceof Uint8Array ? Buffer.from(one).toString('hex') : String(one));
    return ['limiter_ledger', 'limiter_node']
      .flatMap((table) => rows(database, `SELECT * FROM ${table}`))
      .map((row) => row.map(text).join(' '))
      .join('\n');
  } finally {
    database.close();
  }
}

/** How many rows a table has. */
export function count(file: string, table: 'limiter_ledger' | 'limiter_node'): number {
  const database = openDatabase(file);
  try {
    return Number(value(database, `SELECT count(*) FROM ${table}`));
  } finally {
    database.close();
  }
}
