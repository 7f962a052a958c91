/**
 * A question about one ledger that is known, in one statement and no transaction of ours. What was judged is what is in the
 * file, or nothing happens: a charge is an UPDATE of the row as it was judged, a refusal or a peek stands when nobody has
 * committed since the row became known.
 */
import { type AskStep, evaluate, type Outcome, type Step } from '@limiter/core';
import type { Connection } from './connection.js';
import { CommitUnknown, isBusy, isUnknownCommit } from './faults.js';
import { newId } from './identity.js';
import { ledgerKey } from './keys.js';
import { readClock } from './steps.js';

export interface AtOnce {
  readonly outcome: Outcome;
  readonly wrote: boolean;
}

/** Whether this may be asked of `answerAtOnce`: of several ledgers one would have to be judged twice. */
export function isSmall(step: Step): step is AskStep {
  return (step.op === 'consume' || step.op === 'peek') && step.charges.length === 1;
}

/**
 * undefined: it takes a transaction, and nothing was done.
 *
 * @throws what the driver threw; then nothing was done. CommitUnknown: nobody can say. LimiterError: a mistake.
 */
export function answerAtOnce(
  connection: Connection,
  prefix: string,
  clock: () => number,
  step: AskStep,
): AtOnce | undefined {
  const { ledgers } = connection;
  const charge = step.charges[0] as AskStep['charges'][number];
  const entry = ledgers.known(ledgerKey(prefix, charge.ledger));
  if (entry === undefined) return undefined;
  const { outcome, changes } = evaluate(step, [entry.state], readClock(clock), newId);
  const change = changes[0];
  if (change === undefined) return ledgers.isCurrent() ? { outcome, wrote: false } : undefined;
  try {
    return ledgers.exchange(entry, charge.rule, change) ? { outcome, wrote: true } : undefined;
  } catch (error) {
    ledgers.forget();
    // A refusal waits for nobody: it may be one by now.
    if (isBusy(error)) return undefined;
    throw isUnknownCommit(error) ? new CommitUnknown('UPDATE failed', { cause: error }) : error;
  }
}
