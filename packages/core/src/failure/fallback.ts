/**
 * When the store cannot decide, a store of this process decides with a share of every limit.
 *
 * ```
 * store     used 100 of 100 |xxxx|  outage   |xxxx| 100 of 100       at most the limit in its ledgers, always
 * fallback                        |xx| 25 of 25                      at most the share in its own, always
 * ```
 *
 * The bound. Neither side knows what the other admitted, and both keep their ledgers over any number of flaps. So in one
 * window the store admits at most its limit and the fallback at most its share: limit + share, not a fresh share each flap.
 * For a budget that runs across an outage that is one extra share when the outage begins (the fallback starts with a full
 * one) and one when it ends (the store has forgotten what it was not asked). n processes have n fallbacks: with
 * share 1/n they admit together at most one extra limit.
 */
import { LimiterError } from '../errors.js';
import { ruleLimit } from '../rule.js';
import { scaleGrid, scaleRule, scaleUp, shareAsFraction } from '../scale.js';
import type {
  AdjustStep,
  AskOutcome,
  AskStep,
  Charge,
  FaultOutcome,
  Ledger,
  Outcome,
  Step,
  Store,
  SyncStore,
} from '../store.js';
import { fault, guard, markGuarded } from './answers.js';
import { type Decorated, decorate, type RunSync } from './decorate.js';

export interface FallbackOptions {
  /** A store of this process, such as memoryStore(). Its ledgers outlive every flap; it is never asked while the store decides. */
  readonly store: SyncStore;
  /** This process's part of every limit, 0.000001 .. 1: usually 1 / the number of processes. 1 / 3 is exactly a third. */
  readonly share: number;
}

/** When a fault says nothing better: the default probe interval of the breaker. */
const RETRY_AFTER_MS = 1_000;

/**
 * Decides consume and peek steps with the word 'fallback' in `options.store` when, and only when, the store answers with a
 * fault; a denial is an answer. Every limit, capacity and refill is scaled down by the share, what is held back up.
 *
 * - The outcome says `by: 'fallback'`, as `cause` the store's fault, and as `bound` the largest scaled limit among the enforced charges.
 * - A cost above its share but within its limit stays a fault, with a finite retryAfterMs: the store will admit it one day.
 * - An adjust with `by: 'fallback'` goes to the fallback's ledgers; a reset goes to both, and the store's answer counts.
 * - When the fallback fails too, the store's fault is the answer.
 *
 * @throws LimiterError ERR_LIMITER_NUMBER (share), ERR_LIMITER_STORE_UNSUITABLE (a fallback that cannot answer at once)
 * @example
 * const store = withFallback(withDeadline(redis, { timeoutMs: 50 }), { store: memoryStore(), share: 1 / 4 });
 */
export function withFallback<S extends Store>(store: S, options: FallbackOptions): Decorated<S> {
  return fallingBack(store, createFallback(options));
}

/** What a step comes to, given the store's answer: undefined where the step is the fallback's alone (`isForFallback`). */
export type Finish = (step: Step, outcome: Outcome | undefined) => Outcome;

/** @throws LimiterError as `withFallback` does */
export function createFallback(options: FallbackOptions): Finish {
  const { numerator, denominator } = shareAsFraction(options.share);
  if (!options.store.traits.sync || options.store.runSync === undefined) {
    throw new LimiterError(
      'ERR_LIMITER_STORE_UNSUITABLE',
      'the fallback store must be synchronous (traits.sync), such as memoryStore()',
    );
  }
  const fallback = guard(options.store);

  const scaledLedger = (ledger: Ledger): Ledger => ({
    ...ledger,
    grid: scaleGrid(ledger.grid, numerator, denominator),
  });
  const scaled = (part: Pick<Charge, 'ledger' | 'rule'>): Pick<Charge, 'ledger' | 'rule'> => ({
    ledger: scaledLedger(part.ledger),
    rule: scaleRule(part.rule, numerator, denominator),
  });

  function decide(step: AskStep, failed: FaultOutcome): Outcome {
    const charges = step.charges.map((charge) => ({
      ...charge,
      ...scaled(charge),
      holdBack: scaleUp(charge.holdBack, numerator, denominator),
    }));
    const outcome = fallback.runSync({ ...step, charges });
    if (!outcome.ok || (outcome.op !== 'consume' && outcome.op !== 'peek')) return failed;
    if (!outcome.allowed && onlyTheShareIsTooSmall(step.charges, charges)) {
      return fault(failed.fault, failed.cause, failed.retryAfterMs ?? RETRY_AFTER_MS);
    }
    return { ...outcome, by: 'fallback', bound: bound(charges), cause: failed } satisfies AskOutcome;
  }

  function adjust(step: AdjustStep): Outcome {
    const adjustments = step.adjustments.map((adjustment) => ({ ...adjustment, ...scaled(adjustment) }));
    return fallback.runSync({ ...step, adjustments });
  }

  return (step, outcome) => {
    if (outcome === undefined) return adjust(step as AdjustStep);
    if (step.op === 'reset') fallback.runSync({ ...step, ledgers: step.ledgers.map(scaledLedger) });
    else if (step.op !== 'adjust' && step.onFailure === 'fallback' && !outcome.ok) return decide(step, outcome);
    return outcome;
  };
}

/** The store, and `finish` for what it answers. */
export function fallingBack<S extends Store>(store: S, finish: Finish): Decorated<S> {
  const inner = guard<Store>(store);

  function run(steps: readonly Step[], signal?: AbortSignal): Promise<readonly Outcome[]> {
    const asked = steps.some(isForFallback) ? steps.filter((step) => !isForFallback(step)) : steps;
    if (asked.length === 0 && steps.length > 0) return Promise.resolve(merged(steps, []));
    if (asked === steps && finish === finishWithoutFallback) return inner.run(steps, signal);
    return inner.run(asked, signal).then((answers) => {
      const same = asked === steps && !steps.some((step, i) => step.op === 'reset' || answers[i]?.ok === false);
      return same ? answers : merged(steps, answers);
    });
  }

  /** Each step finished in order; the store's answers are those to the steps that it was asked. */
  function merged(steps: readonly Step[], answers: readonly Outcome[]): readonly Outcome[] {
    let next = 0;
    return steps.map((step) => {
      if (isForFallback(step)) return finish(step, undefined);
      next += 1;
      return finish(step, answers[next - 1]);
    });
  }

  const runSync =
    (ask: RunSync): RunSync =>
    (step) =>
      finish(step, isForFallback(step) ? undefined : ask(step));

  return markGuarded(decorate(inner, run, runSync)) as Decorated<S>;
}

/**
 * Where there is no fallback, the charges that one made in another process are out of reach: their adjusts give nothing back,
 * and never reach the store, where an equal id would be somebody else's charge.
 */
export const finishWithoutFallback: Finish = (step, outcome) => {
  if (outcome !== undefined) return outcome;
  const adjusted = (step as AdjustStep).adjustments.map(() => ({ givenBack: 0, charged: 0, cut: 0 }));
  return { ok: true, op: 'adjust', now: Date.now(), closed: false, adjusted };
};

export function isForFallback(step: Step): boolean {
  return step.op === 'adjust' && step.by === 'fallback';
}

/** The largest scaled limit that was enforced: what the fallback may admit beside the store. */
function bound(charges: readonly Charge[]): number {
  return Math.max(0, ...charges.filter(isAsked).map(({ rule }) => ruleLimit(rule)));
}

/** Refused for good by the fallback, because of a cost that the limits themselves would admit. */
function onlyTheShareIsTooSmall(charges: readonly Charge[], scaled: readonly Charge[]): boolean {
  return scaled.some(neverFits) && !charges.some(neverFits);
}

function neverFits(charge: Charge): boolean {
  return isAsked(charge) && charge.cost > ruleLimit(charge.rule) - charge.holdBack;
}

function isAsked({ enforce, cost }: Charge): boolean {
  return enforce && cost > 0;
}
