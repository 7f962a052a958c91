/**
 * Steps in one transaction. A question begins as a reader: a refusal or a peek is answered from a snapshot, takes no lock
 * that anybody waits for, and writes nothing. Only a step that charges takes the write lock; when somebody else has
 * written since the snapshot, SQLite refuses the lock, nothing has happened, and the step begins again under
 * BEGIN IMMEDIATE. Either way a decision rests on the newest committed state: exact with any number of processes.
 */
import { LimiterError, type Outcome, type Step } from '@limiter/core';
import { type Connection, takeBack } from './connection.js';
import { CommitUnknown, Corrupt, faultOutcome, isUnknownCommit } from './faults.js';
import { perform, type Stage } from './steps.js';

export interface Transaction {
  readonly outcomes: readonly Outcome[];
  /** Steps that wrote. */
  readonly writes: number;
}

/** May these steps begin as readers? Peeks, and a lone consume that was not in anybody's way yet: where several ask, one is sure to charge. */
export function mayBeginAsReader(steps: readonly Step[], again: boolean): boolean {
  if (steps.length === 1 && steps[0]?.op === 'consume') return !again;
  return steps.every(({ op }) => op === 'peek');
}

/**
 * Carries out `steps` in order, each as if alone, and commits. A step that meets a damaged ledger before it has written
 * is a fault of its own; anything else that fails takes everything back.
 *
 * @throws what the driver threw; then nothing was done. CommitUnknown: nobody can say. LimiterError: a mistake.
 */
export function transact(
  connection: Connection,
  prefix: string,
  clock: () => number,
  steps: readonly Step[],
  asReader: boolean,
): Transaction {
  begin(connection, asReader);
  let committing = false;
  try {
    connection.ledgers.begin();
    const stage: Stage = { connection, prefix, clock, now: undefined, wrote: false };
    let writes = 0;
    const outcomes: Outcome[] = [];
    for (const step of steps) {
      stage.wrote = false;
      outcomes.push(attempt(stage, step));
      if (stage.wrote) writes += 1;
    }
    connection.ledgers.end();
    committing = true;
    connection.commit.run();
    return { outcomes, writes };
  } catch (error) {
    takeBack(connection);
    throw committing && isUnknownCommit(error) ? new CommitUnknown('COMMIT failed', { cause: error }) : error;
  }
}

function attempt(stage: Stage, step: Step): Outcome {
  try {
    return perform(stage, step);
  } catch (error) {
    if (stage.wrote || !(error instanceof Corrupt)) throw error;
    return faultOutcome(error);
  }
}

function begin(connection: Connection, asReader: boolean): void {
  try {
    (asReader ? connection.begin : connection.beginImmediate).run();
  } catch (error) {
    if (!/within a transaction/.test(String((error as Error).message))) throw error;
    throw new LimiterError(
      'ERR_LIMITER_CLIENT',
      'the database handed to sqliteStore is inside a transaction of its own; a decision is a transaction: make it before or after, or give the store a connection of its own',
      { cause: error },
    );
  }
}
