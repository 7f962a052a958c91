/** From steps to outcomes: the transaction, the wait for a lock, and what follows a failure. */
import type { Outcome, Step } from '@limiter/core';
import { faultOutcome, isBusy, resultCode } from './faults.js';
import { tidy, WRITES_A_SWEEP } from './housekeeping.js';
import type { Opening } from './opening.js';
import { type Patience, pause } from './patience.js';
import { mayBeginAsReader, transact } from './transaction.js';

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
  let writes = 0;

  function together(steps: readonly Step[], again: boolean): readonly Outcome[] {
    const asReader = mayBeginAsReader(steps, again);
    try {
      const connection = opening.connection();
      const done = opening.withoutWaiting(connection, asReader, () =>
        transact(connection, prefix, clock, steps, asReader),
      );
      patience.rewarded();
      writes += done.writes;
      if (writes >= WRITES_A_SWEEP) sweep(Math.floor(writes / WRITES_A_SWEEP));
      return done.outcomes;
    } catch (error) {
      const code = resultCode(error);
      if (FAILED.includes(code)) opening.failed();
      // What has expired may be what fills the disk.
      if (code === FULL) sweep(1);
      throw error;
    }
  }

  /** After the decision and apart from it: whatever goes wrong here has not touched it. */
  function sweep(steps: number): void {
    writes %= WRITES_A_SWEEP;
    try {
      const connection = opening.connection();
      opening.withoutWaiting(connection, false, () => tidy(connection, clock(), steps));
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
      if (tries > 0) pause(tries);
    }
  }

  return { together, alone };
}
