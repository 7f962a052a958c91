/**
 * Denial memory: a call that was just denied is denied again without asking the store, until its retry time. Opt in: it saves
 * round trips under attack, and in exchange a denial may be seen up to `staleMs` after somebody elsewhere gave budget back.
 *
 * ```
 * sent        answered: denied, retry after 800 ms          800 ms after the sending: the store is asked again
 * |-----------|......... the same question is answered here .........|-------
 * ```
 *
 * The wait counts from the sending, which is not later than the store's own `now`, so nobody is held a millisecond longer
 * than the store said. Nothing that was admitted is remembered, and a peek always asks the store.
 */
import { type Decorated, decorate } from './failure/decorate.js';
import { LONGEST_TIMER_MS, wholeNumber } from './failure/options.js';
import { monotonicNow } from './failure/time.js';
import { ruleLimit } from './rule.js';
import type { AskOutcome, AskStep, DeadlineSignal, Outcome, Step, Store, Verdict } from './store.js';

export interface DenialMemoryOptions {
  /** How many denials are remembered, 1 .. 10,000,000; the oldest leave first. Default 10,000. */
  readonly max?: number;
  /** How long at most a denial is believed, 1 .. 2^31-1 ms. Default 1,000. */
  readonly staleMs?: number;
  /** Ledger names (`limiter/limit`, or a shared ledger's) whose denials the store must always see. */
  readonly except?: readonly string[];
  /** A clock in ms that never steps back; default `performance.now`. */
  readonly now?: () => number;
}

export interface DenialMemory {
  /** Questions answered here, and denials that are remembered now. */
  denials(): { readonly answered: number; readonly remembered: number };
}

interface Denial {
  readonly sentAt: number;
  readonly until: number;
  readonly outcome: AskOutcome;
  /** The outcome as it is after so many ms, for those who ask in the same one. */
  elapsedMs: number;
  aged: AskOutcome;
}

/**
 * @throws LimiterError ERR_LIMITER_NUMBER for a bad option
 * @example
 * const store = withDenialMemory(redisStore(client), { staleMs: 500 });
 * store.denials(); // { answered: 0, remembered: 0 }
 */
export function withDenialMemory<S extends Store>(
  store: S,
  options: DenialMemoryOptions = {},
): Decorated<S> & DenialMemory {
  const max = wholeNumber('max', options.max ?? 10_000, 1, 10_000_000);
  const staleMs = wholeNumber('staleMs', options.staleMs ?? 1_000, 1, LONGEST_TIMER_MS);
  const except = new Set(options.except);
  const now = options.now ?? monotonicNow;
  const denials = new Map<string, Denial>();
  let answered = 0;
  /** How often budget came back. A denial that was asked for before it did, and arrives after it, is not believed. */
  let returns = 0;

  function recall(step: Step): AskOutcome | undefined {
    if (step.op !== 'consume' || denials.size === 0) return undefined;
    const key = keyOf(step);
    const denial = denials.get(key);
    if (denial === undefined) return undefined;
    const at = now();
    if (at < denial.until) {
      answered += 1;
      const elapsedMs = Math.floor(at - denial.sentAt);
      if (elapsedMs !== denial.elapsedMs) {
        denial.elapsedMs = elapsedMs;
        denial.aged = aged(denial.outcome, elapsedMs);
      }
      return denial.aged;
    }
    denials.delete(key);
    return undefined;
  }

  function learn(step: Step, outcome: Outcome | undefined, sentAt: number, returnsBefore: number): void {
    if (outcome?.ok !== true) return;
    if (outcome.op === 'reset' || (outcome.op === 'adjust' && outcome.adjusted.some((part) => part.givenBack > 0))) {
      // Budget came back through here: what was denied may fit now.
      denials.clear();
      returns += 1;
      return;
    }
    if (returns !== returnsBefore) return;
    if (step.op !== 'consume' || outcome.op !== 'consume' || outcome.allowed || outcome.by !== undefined) return;
    if (step.charges.some((charge) => except.has(charge.ledger.name))) return;
    const until = sentAt + Math.min(staleMs, waitOf(step, outcome));
    denials.set(keyOf(step), { sentAt, until, outcome, elapsedMs: -1, aged: outcome });
    if (denials.size > max) for (const oldest of denials.keys()) return void denials.delete(oldest);
  }

  async function ask(steps: readonly Step[], signal: DeadlineSignal | undefined): Promise<readonly Outcome[]> {
    // Behind a step that may give budget back nothing is known until the store has answered.
    const first = steps.findIndex(({ op }) => op === 'adjust' || op === 'reset');
    const recalled = steps.map((step, index) => (first >= 0 && index > first ? undefined : recall(step)));
    const asked = steps.filter((_, index) => recalled[index] === undefined);
    const sentAt = now();
    const returnsBefore = returns;
    const outcomes = asked.length === 0 ? [] : await store.run(asked, signal);
    asked.forEach((step, index) => void learn(step, outcomes[index], sentAt, returnsBefore));
    let next = 0;
    return recalled.map((outcome) => outcome ?? (outcomes[next++] as Outcome));
  }

  const decorated = decorate(
    store,
    (steps, signal) => {
      const only = steps.length === 1 ? recall(steps[0] as Step) : undefined;
      return only === undefined ? ask(steps, signal) : Promise.resolve([only]);
    },
    (inner) => (step) => {
      const recalled = recall(step);
      if (recalled !== undefined) return recalled;
      const sentAt = now();
      const outcome = inner(step);
      learn(step, outcome, sentAt, returns);
      return outcome;
    },
  );
  return Object.assign(decorated, { recall, denials: () => ({ answered, remembered: denials.size }) });
}

/** Everything that the verdict depends on, besides what is stored; lengths keep values apart. */
function keyOf(step: AskStep): string {
  let key = '';
  for (const { ledger, rule, cost, holdBack, enforce } of step.charges) {
    const refill = rule.algorithm === 'token-bucket' ? rule.refillTokens : 0;
    key += `${ledger.name}|${ledger.grid}|${cost}|${holdBack}|${ruleLimit(rule)}|${refill}|${enforce ? 1 : 0}|${ledger.slot?.length ?? -1}:${ledger.slot ?? ''}`;
    for (const value of ledger.values) key += `|${value.length}:${value}`;
    key += '\n';
  }
  return key;
}

/** The longest wait of the enforced limits: what the caller was told. */
function waitOf(step: AskStep, outcome: AskOutcome): number {
  let longest = 0;
  outcome.verdicts.forEach((verdict, index) => {
    if (step.charges[index]?.enforce === true) longest = Math.max(longest, verdict.retryAfterMs);
  });
  return longest;
}

/** The remembered denial `elapsedMs` later: its waits are that much shorter. `remaining` is what it was, so never too much. */
function aged(outcome: AskOutcome, elapsedMs: number): AskOutcome {
  const shorter = (waitMs: number): number => (waitMs === 0 ? 0 : Math.max(1, waitMs - elapsedMs));
  const verdicts = outcome.verdicts.map(
    (verdict): Verdict => ({
      ...verdict,
      retryAfterMs: shorter(verdict.retryAfterMs),
      resetAfterMs: shorter(verdict.resetAfterMs),
      moreAfterMs: shorter(verdict.moreAfterMs),
    }),
  );
  return { ...outcome, now: outcome.now + elapsedMs, verdicts, by: 'denial-memory' };
}
