/** Everything that is stored in a file, as text. */
import Database from 'better-sqlite3';

export function dump(file: string): string {
  const database = new Database(file, { readonly: true });
  try {
    const rows = (sql: string): string[] =>
      (database.prepare(sql).raw().all() as unknown[][]).map((row) =>
        row
          .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value)))
          .join(' '),
      );
    return [...rows('SELECT * FROM limiter_ledger'), ...rows('SELECT * FROM limiter_node')].join('\n');
  } finally {
    database.close();
  }
}

/** How many rows a table has. */
export function count(file: string, table: 'limiter_ledger' | 'limiter_node'): number {
  const database = new Database(file, { readonly: true });
  try {
    return (database.prepare(`SELECT count(*) FROM ${table}`).raw().get() as [number])[0];
  } finally {
    database.close();
  }
}
