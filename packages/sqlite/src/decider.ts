/** From steps to outcomes: the transaction, the wait for a lock, and what follows a failure. */
import type { Outcome, Step } from '@limiter/core';
import { answerAtOnce, isSmall } from './at-once.js';
import { faultOutcome, isBusy, resultCode } from './faults.js';
import { createSweeper, WRITES_A_SWEEP } from './housekeeping.js';
import type { Opening } from './opening.js';
import { type Patience, pause, pauseMs } from './patience.js';
import { mayBeginAsReader, type Transaction, transact } from './transaction.js';

export interface DeciderOptions {
  readonly opening: Opening;
  readonly patience: Patience;
  /** Escaped. */
  readonly prefix: string;
  readonly clock: () => number;
}

export interface Decider {
  /** All of them in one transaction; `again`: another process was in the way. @throws as `transact`: then nothing was done */
  together(steps: readonly Step[], again: boolean): readonly Outcome[];
  /** One step, waiting for a lock until `until` (performance.now()) or as long as the store's patience lasts. @throws LimiterError */
  alone(step: Step, until?: number): Outcome;
}

const FULL = 13;
/** IOERR, CORRUPT, NOTADB: the file failed under the connection. */
const FAILED: readonly (number | undefined)[] = [10, 11, 26];

export function createDecider({ opening, patience, prefix, clock }: DeciderOptions): Decider {
  const sweeper = createSweeper();
  let writes = 0;

  function together(steps: readonly Step[], again: boolean): readonly Outcome[] {
    let done: Transaction;
    try {
      done = (again ? undefined : inOneStatement(steps)) ?? inTransaction(steps, mayBeginAsReader(steps, again));
    } catch (error) {
      const code = resultCode(error);
      if (FAILED.includes(code)) opening.failed();
      // What has expired may be what fills the disk.
      if (code === FULL) sweep(1);
      throw error;
    }
    patience.rewarded();
    writes += done.writes;
    if (writes >= WRITES_A_SWEEP) {
      sweep(Math.floor(writes / WRITES_A_SWEEP));
      writes %= WRITES_A_SWEEP;
    }
    return done.outcomes;
  }

  function inOneStatement(steps: readonly Step[]): Transaction | undefined {
    const [step] = steps;
    if (steps.length !== 1 || step === undefined || !isSmall(step)) return undefined;
    const answer = answerAtOnce(opening.connection(), prefix, clock, step);
    return answer === undefined ? undefined : { outcomes: [answer.outcome], writes: answer.wrote ? 1 : 0 };
  }

  function inTransaction(steps: readonly Step[], asReader: boolean): Transaction {
    const connection = opening.connection();
    const waitsMs = opening.stopWaiting(connection, asReader);
    try {
      return transact(connection, prefix, clock, steps, asReader);
    } finally {
      if (waitsMs > 0) opening.waitAgain(connection, waitsMs);
    }
  }

  /** After the decision and apart from it: whatever goes wrong here has not touched it. */
  function sweep(times: number): void {
    try {
      const connection = opening.connection();
      const waitsMs = opening.stopWaiting(connection, false);
      for (let i = 0; i < times; i += 1) sweeper.sweep(connection, clock());
      if (waitsMs > 0) opening.waitAgain(connection, waitsMs);
    } catch {
      // What is wrong with the file meets a decision soon enough.
    }
  }

  function alone(step: Step, until?: number): Outcome {
    let deadline = until;
    for (let tries = 0; ; tries += 1) {
      try {
        return together([step], tries > 0)[0] as Outcome;
      } catch (error) {
        if (!isBusy(error)) return faultOutcome(error);
        deadline ??= patience.until();
        if (performance.now() >= deadline) {
          patience.inVain();
          return faultOutcome(error);
        }
      }
      const ms = pauseMs(tries);
      if (ms > 0) pause(ms);
    }
  }

  return { together, alone };
}
