/** Refunds and settles: a receipt and an amount turned into a step, its outcome into what was given back, charged and cut. */
import { ceilDiv, STEP_BACK_MS } from './algorithms/time.js';
import { LimiterError, shown } from './errors.js';
import type { Adjustments } from './limiter-types.js';
import { ownValue } from './own-value.js';
import { checkCost } from './question.js';
import type { Receipt, ReceiptEntry } from './receipt.js';
import type { Rule } from './rule.js';
import type { Adjustment, AdjustStep, Failure, Outcome } from './store.js';

/** A step, and the limits that its adjustments belong to, in order. */
export interface Correction {
  readonly step: AdjustStep;
  readonly limits: readonly string[];
}

/** Gives back `cost` (all that was charged when undefined) of a receipt. In a record, a limit that is not named is left alone. */
export function refundStep(
  receipt: Receipt,
  cost: unknown,
  everywhere: boolean,
  word: Failure | undefined,
  known: readonly string[],
): Correction {
  return correction(receipt, cost, everywhere, word, known, 'cost', (entry, amount) => {
    const giveBack = Math.min(entry.charged, amount ?? entry.charged);
    return giveBack === 0 ? undefined : { change: 'give-back', amount: giveBack };
  });
}

/** Corrects what was charged to `actual`: less is given back, more is charged at the store's time of this call. */
export function settleStep(
  receipt: Receipt,
  actual: unknown,
  everywhere: boolean,
  word: Failure | undefined,
  known: readonly string[],
): Correction {
  if (actual === undefined)
    throw new LimiterError(
      'ERR_LIMITER_COST',
      'actual must be a whole number from 0 to 2^53-1 or a record of them, got undefined',
    );
  return correction(receipt, actual, everywhere, word, known, 'actual', (entry, amount) => {
    if (amount === undefined || amount === entry.charged) return undefined;
    return amount < entry.charged
      ? { change: 'give-back', amount: entry.charged - amount }
      : { change: 'charge', amount: amount - entry.charged };
  });
}

type AmountChange = Pick<Adjustment, 'change' | 'amount'>;

function correction(
  receipt: Receipt,
  amounts: unknown,
  everywhere: boolean,
  word: Failure | undefined,
  known: readonly string[],
  what: string,
  changeOf: (entry: ReceiptEntry, amount: number | undefined) => AmountChange | undefined,
): Correction {
  const amountFor = checkAmounts(receipt, amounts, known, what);
  const adjustments: Adjustment[] = [];
  const limits: string[] = [];
  for (const entry of receipt.entries) {
    const amount = amountFor(entry.limit);
    const named = amounts === undefined || amount !== undefined;
    const change = named ? changeOf(entry, amount) : undefined;
    if (change === undefined) continue;
    adjustments.push({ ledger: entry.ledger, rule: entry.rule, mark: entry.mark, charged: entry.charged, ...change });
    limits.push(entry.limit);
  }
  return {
    step: {
      op: 'adjust',
      adjustments,
      by: receipt.by,
      once: everywhere ? marker(receipt) : undefined,
      onFailure: word,
    },
    limits,
  };
}

/** `known`: the limits of this limiter, which a receipt leaves out where they were skipped or unlimited. */
function checkAmounts(
  receipt: Receipt,
  amounts: unknown,
  known: readonly string[],
  what: string,
): (limit: string) => number | undefined {
  if (amounts === undefined) return () => undefined;
  if (typeof amounts !== 'object' || amounts === null) {
    const amount = checkCost(amounts, what);
    return () => amount;
  }
  const charged = receipt.entries.map((entry) => entry.limit);
  for (const [name, amount] of Object.entries(amounts)) {
    if (amount !== undefined) checkCost(amount, `${what}.${name}`);
    if (!known.includes(name) && !charged.includes(name))
      throw new LimiterError('ERR_LIMITER_UNKNOWN_LIMIT', `${what} must name limits, got ${shown(name)}`);
  }
  return (limit) => ownValue(amounts, limit) as number | undefined;
}

/** A marker in the store, which lasts as long as any of the charges can count. */
function marker(receipt: Receipt): AdjustStep['once'] {
  const first = receipt.entries[0];
  if (first === undefined) return undefined;
  const ttlMs = Math.max(1, ...receipt.entries.map(({ rule }) => longestMs(rule))) + STEP_BACK_MS;
  return { key: `${receipt.limiter}/${receipt.id}`, ttlMs, beside: first.ledger };
}

/** How long a charge can count: the window, or the time in which a bucket owing twice its capacity fills. */
function longestMs(rule: Rule): number {
  if (rule.algorithm !== 'token-bucket') return rule.windowMs;
  return Math.min(2 ** 43, 2 * ceilDiv(rule.capacity * rule.refillMs, rule.refillTokens));
}

/** What an adjust outcome says, by limit. */
export function adjustments(correction: Correction, outcome: Outcome): Adjustments<string> {
  if (!outcome.ok) return { closed: false, failure: outcome, limits: {} };
  if (outcome.op !== 'adjust')
    throw new LimiterError('ERR_LIMITER_STORE', `a store must answer adjust with adjust, got ${shown(outcome.op)}`);
  if (outcome.closed) return { closed: true, failure: undefined, limits: {} };
  return {
    closed: false,
    failure: undefined,
    limits: Object.fromEntries(correction.limits.map((name, index) => [name, outcome.adjusted[index]])),
  };
}
