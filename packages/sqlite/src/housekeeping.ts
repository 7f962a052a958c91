/**
 * What has expired leaves in small steps, on the way of other work and never by a timer: every 32nd charge looks at the
 * next 64 rows, in the order of the keys, so that what leaves together lies together. The place is kept in the file, for all
 * processes. There are never more than about twice as many rows as there were ledgers in use at once.
 */
import { type Connection, takeBack } from './connection.js';
import { treeKey } from './keys.js';

export const WRITES_A_SWEEP = 32;
const ROWS_A_SWEEP = 64;
const NODES_A_SWEEP = 64;
const NODES_AT_ONCE = 16;
/** Callers with clocks of their own may differ by 2 s; nobody's ledger leaves before its time. */
const GRACE_MS = 5_000;

function dropSome(connection: Connection, tree: number, most: number): boolean {
  return Number(connection.dropSomeNodes.run(tree, tree, most).changes) < most;
}

/** Deletes a tree that nothing refers to any more: at once when it is small, else it is left to the sweep. */
export function abandonTree(connection: Connection, tree: number): void {
  if (tree === 0 || dropSome(connection, tree, NODES_AT_ONCE)) return;
  connection.putLedger.run(treeKey(tree), 0, 0, 0, 0, 0, tree, null);
}

/** Deletes a row and what belongs to it. */
export function dropLedger(connection: Connection, key: string): void {
  const tree = connection.takeLedger.get(key)?.[0];
  if (typeof tree === 'number') abandonTree(connection, tree);
}

/** So many small steps, in a transaction of their own. It may fail: what is wrong meets a decision soon enough. */
export function tidy(connection: Connection, now: number, steps: number): void {
  try {
    connection.beginImmediate.run();
  } catch {
    return;
  }
  try {
    for (let i = 0; i < steps; i += 1) sweep(connection, now);
    connection.commit.run();
  } catch {
    takeBack(connection);
  }
}

function sweep(connection: Connection, now: number): void {
  const from = connection.swept.get()?.[0];
  let last = typeof from === 'string' ? from : '';
  const rows = connection.ledgersAfter.all(last, ROWS_A_SWEEP);
  let done = true;
  for (const [key, fullAt, tree] of rows as readonly [string, number, number][]) {
    if (fullAt + GRACE_MS <= now) {
      done = tree === 0 || dropSome(connection, tree, NODES_A_SWEEP);
      if (!done) break;
      connection.takeLedger.get(key);
    }
    last = key;
  }
  connection.putSwept.run(done && rows.length < ROWS_A_SWEEP ? '' : last);
}
