/**
 * What has expired leaves in small steps, on the way of other work and never by a timer: every 64th charge looks at the
 * next 128 rows, in the order of the keys, so that what leaves together lies together, and deletes what has expired there.
 * Ledgers come by charges only, so there are never more than about twice as many rows as there were ledgers in use at once.
 */
import { type Connection, type Statements, takeBack } from './connection.js';

/** So many charges earn one sweep. */
export const WRITES_A_SWEEP = 64;
const ROWS_A_SWEEP = 128;
const NODES_A_SWEEP = 64;
/** Callers with clocks of their own may differ by 2 s; nobody's ledger leaves before its time. */
const GRACE_MS = 5_000;
/** The place is written to the file with every deletion, and every so many sweeps, for the process that comes next. */
const SWEEPS_A_NOTE = 16;
/** SQLite orders every BLOB after every text. */
const AFTER_EVERY_KEY: Uint8Array = Uint8Array.of(0);

function dropSome(connection: Statements, tree: number, most: number): boolean {
  return Number(connection.dropSomeNodes.run(tree, tree, most).changes) < most;
}

export interface Sweeper {
  /** One step. It may fail: what is wrong with the file meets a decision soon enough. */
  sweep(connection: Connection, now: number): void;
}

export function createSweeper(): Sweeper {
  /** The key up to which we have come; undefined: it is in the file. */
  let place: string | undefined;
  let sweeps = 0;

  function sweep(connection: Connection, now: number): void {
    const from = place ?? noted(connection);
    const last = connection.keyAfter.get(from, ROWS_A_SWEEP - 1)?.[0];
    const next = typeof last === 'string' ? last : '';
    const expired = connection.anyExpired.get(from, next === '' ? AFTER_EVERY_KEY : next, now - GRACE_MS) !== undefined;
    sweeps += 1;
    if (!expired && sweeps % SWEEPS_A_NOTE !== 1) {
      place = next;
      return;
    }
    connection.beginImmediate.run();
    place = drop(connection, now - GRACE_MS, from) ?? next;
    connection.putSwept.run(place);
    connection.commit.run();
  }

  /** Deletes what has expired among the next rows. A long log takes several sweeps: the key before it, where the next one begins. */
  function drop(connection: Connection, before: number, from: string): string | undefined {
    let done = from;
    for (const [key, tree] of connection.expired.all(from, ROWS_A_SWEEP, before) as readonly [string, number][]) {
      if (tree !== 0) {
        connection.ledgers.nodesGone();
        if (!dropSome(connection, tree, NODES_A_SWEEP)) return done;
      }
      connection.takeLedger.get(key);
      connection.ledgers.gone(key);
      done = key;
    }
    return undefined;
  }

  return {
    sweep(connection, now) {
      try {
        sweep(connection, now);
      } catch {
        takeBack(connection);
        place = undefined;
      }
    },
  };
}

function noted(connection: Connection): string {
  const swept = connection.swept.get()?.[0];
  return typeof swept === 'string' ? swept : '';
}
