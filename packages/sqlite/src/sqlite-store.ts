/** A store in one SQLite file, shared by any number of processes of one machine. */
import { type Duration, LimiterError, type Outcome, parseDuration, type SyncStore } from '@limiter/core';
import { createDecider } from './decider.js';
import type { SqliteDatabase } from './driver.js';
import { escaped } from './keys.js';
import { open } from './opening.js';
import { createPatience } from './patience.js';
import { createTick } from './tick.js';

export interface SqliteStoreOptions {
  /** Whole ms since the Unix epoch, 0 <= now < 2^52. For tests, and callers that agree within 2 s. Default: the process clock, read anew for each decision. */
  readonly clock?: (() => number) | undefined;
  /** How long a step waits for a lock that another process holds, before it is an 'unreachable' fault. Default '50ms'. */
  readonly busyTimeout?: Duration | undefined;
  /** Part of every key: two stores with different prefixes share a file and nothing else. Any string. Default ''. */
  readonly prefix?: string | undefined;
}

/**
 * Ledgers in a SQLite file: exact across processes, durable, synchronous.
 *
 * A path is opened with better-sqlite3, or node:sqlite where that is not installed, in WAL mode with synchronous NORMAL.
 * A database that is handed in keeps its journal mode and its settings, and stays open after `close()`.
 *
 * Every step is one transaction, or one statement that is as good as one. A fault never throws: busy beyond `busyTimeout`
 * is 'unreachable', a full disk or a read-only file 'refused', a damaged file or row 'corrupt'; nothing of that step was
 * written, and the store works again as soon as the file does.
 *
 * @throws LimiterError ERR_LIMITER_CLIENT (no driver, a folder that is not there, a closed database), ERR_LIMITER_SCHEMA
 * (tables of another version), ERR_LIMITER_OPTION, ERR_LIMITER_DURATION
 * @example
 * const limiter = createLimiter({ name: 'api', store: sqliteStore('/var/lib/app/limits.db'), limits, onStoreFailure: 'allow' });
 */
export function sqliteStore(source: string | SqliteDatabase, options: SqliteStoreOptions = {}): SyncStore {
  const { clock = Date.now, busyTimeout = '50ms' } = options;
  if (typeof clock !== 'function') throw wrong('clock must be a function that returns ms', clock);
  if (typeof (options.prefix ?? '') !== 'string') throw wrong('prefix must be a string', options.prefix);
  const prefix = escaped(options.prefix ?? '');
  const patience = createPatience(parseDuration(busyTimeout, 'busyTimeout'));
  const opening = open(source);
  const { together, alone } = createDecider({ opening, patience, prefix, clock });
  const tick = createTick({ together, alone, patience });
  let closing: Promise<void> | undefined;

  async function close(): Promise<void> {
    await tick.settled();
    opening.close();
  }

  return {
    traits: {
      sync: true,
      atomic: 'always',
      clock: options.clock === undefined ? 'own' : 'caller',
      durable: 'yes',
      fails: 'possible',
      algorithms: ['fixed-window', 'sliding-window-log', 'token-bucket'],
    },
    runSync: (step) => (closing === undefined ? alone(step) : closed()),
    async run(steps, signal) {
      return closing === undefined ? tick.run(steps, signal) : steps.map(closed);
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

function closed(): Outcome {
  return { ok: false, fault: 'unreachable', cause: new LimiterError('ERR_LIMITER_CLOSED', 'the store was closed') };
}

function wrong(rule: string, value: unknown): LimiterError {
  return new LimiterError('ERR_LIMITER_OPTION', `${rule}, got ${typeof value}`);
}
