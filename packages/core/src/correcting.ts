/** Refunds and settles of a limiter: a receipt is closed, its step run, and what came of it said; opened again where provably nothing was done. */
import { adjustments, type Correction, type refundStep, type settleStep } from './adjusting.js';
import { closedReceipts as receipts } from './closed-receipts.js';
import { causeText, LimiterError, shown } from './errors.js';
import { checkKnown } from './limit-checks.js';
import type { Adjustments, Once } from './limiter-types.js';
import { readReceipt } from './receipt.js';
import type { Failure, FaultOutcome, Outcome, Step } from './store.js';

export interface Correcting {
  readonly limiter: string;
  /** Names of its limits. */
  readonly limits: readonly string[];
  readonly word: Failure | undefined;
  /** The store cannot fail. */
  readonly neverFails: boolean;
  /** @throws LimiterError when the limiter is closed. */
  readonly open: () => void;
  readonly run: (step: Step) => Promise<Outcome>;
  readonly runSync: (step: Step) => Outcome;
}

type Correct<A> = (
  text: unknown,
  amount: unknown,
  once: Once | undefined,
  stepOf: typeof refundStep | typeof settleStep,
) => A;

export interface Corrections {
  readonly now: Correct<Adjustments<string>>;
  readonly later: Correct<Promise<Adjustments<string>>>;
}

export function createCorrections({ limiter, limits, word, neverFails, open, run, runSync }: Correcting): Corrections {
  /** What is to be done, or the answer without the store: nothing to send, or a receipt that was used. */
  const begin: Correct<{ readonly id: string; readonly correction: Correction } | Adjustments<string>> = (
    text,
    amount,
    once,
    stepOf,
  ) => {
    open();
    if (text === undefined) return { closed: false, failure: undefined, limits: {} };
    const receipt = readReceipt(text, limiter);
    const correction = stepOf(receipt, amount, checkOnce(once), word, limits);
    if (!receipts.close(receipt.id)) return { closed: true, failure: undefined, limits: {} };
    // A fallback's charge lies in the fallback's ledgers; the ids mean nothing to a store that never has one.
    const elsewhere = receipt.by === 'fallback' && neverFails;
    const nothing = elsewhere || (correction.step.adjustments.length === 0 && correction.step.once === undefined);
    return nothing ? { closed: false, failure: undefined, limits: {} } : { id: receipt.id, correction };
  };

  function end(id: string, correction: Correction, outcome: Outcome): Adjustments<string> {
    // Only an unknown outcome may have run; every other fault left the charge as it was, so the receipt may be used again.
    if (!outcome.ok && outcome.fault !== 'unknown-outcome') receipts.reopen(id);
    if (!outcome.ok && word === 'throw') throw storeFailed(outcome);
    return adjustments(correction, outcome);
  }

  /** A store that rejects with a mistake has run nothing: the receipt may be used again. */
  function undone(id: string, error: unknown): unknown {
    if (error instanceof LimiterError && error.code !== 'ERR_LIMITER_STORE') receipts.reopen(id);
    return error;
  }

  return {
    now(...asked) {
      const work = begin(...asked);
      if (!('id' in work)) return work;
      let outcome: Outcome;
      try {
        outcome = runSync(work.correction.step);
      } catch (error) {
        throw undone(work.id, error);
      }
      return end(work.id, work.correction, outcome);
    },
    async later(...asked) {
      const work = begin(...asked);
      if (!('id' in work)) return work;
      let outcome: Outcome;
      try {
        outcome = await run(work.correction.step);
      } catch (error) {
        throw undone(work.id, error);
      }
      return end(work.id, work.correction, outcome);
    },
  };
}

export function storeFailed({ fault, cause }: FaultOutcome): LimiterError {
  return new LimiterError('ERR_LIMITER_STORE_FAILURE', `the store failed (${fault}): ${causeText(cause)}`, { cause });
}

function checkOnce(once: Once | undefined): boolean {
  checkKeys(once, 'once', 'a refund or settle');
  const where = once?.once ?? 'process';
  if (where !== 'process' && where !== 'everywhere') {
    throw new LimiterError('ERR_LIMITER_OPTION', `once must be "process" or "everywhere", got ${shown(where)}`);
  }
  return where === 'everywhere';
}

/** An options object with this one option. @throws LimiterError ERR_LIMITER_OPTION */
export function checkKeys(options: unknown, known: string, who: string): void {
  if (options === undefined || options === null) return;
  if (typeof options !== 'object')
    throw new LimiterError('ERR_LIMITER_OPTION', `the options of ${who} must be an object, got ${shown(options)}`);
  checkKnown(options, [known], who);
}
