/**
 * Denial memory: a call that was just denied is denied again without asking the store, as long as the store's answer would be
 * the same but for the time that has passed. Opt in: it saves round trips under attack, and in exchange what somebody else
 * did to a ledger (gave budget back, charged it, set the clock) may be seen up to `staleMs` late.
 *
 * ```
 * sent        answered: denied, retry after 800 ms          800 ms after the sending: the store is asked again
 * |-----------|......... the same question is answered here .........|-------
 * ```
 *
 * The invariant: while nobody else changes its ledgers, a denial from here is the store's own, number by number. It is believed
 * until the first of its waits has passed, since no number of a verdict changes before; and not any more once a step that
 * went through here, and was answered after the denial's sending, may have changed one of its ledgers.
 *
 * The end counts from the sending, which is not later than the store's own `now`, so nobody is held a millisecond longer
 * than the store said. The waits count from the arrival, so nobody is told to come back too early. Nothing that was
 * admitted is remembered, and a peek always asks the store.
 */

import { type Asking, type AskingStore, canBeAsked } from './asking.js';
import { WatchedAsking } from './denial-asking.js';
import { DenialTable, type Denied } from './denial-table.js';
import { type Decorated, decorate } from './failure/decorate.js';
import { LONGEST_TIMER_MS, wholeNumber } from './failure/options.js';
import { monotonicNow } from './failure/time.js';
import { LedgerChanges } from './ledger-changes.js';
import { ruleLimit } from './rule.js';
import { addShortcuts } from './shortcuts.js';
import type { AskOutcome, AskStep, Charge, DeadlineSignal, Outcome, Step, Store, Verdict } from './store.js';

export interface DenialMemoryOptions {
  /** How many denials are remembered, 1 .. 8,000,000; the oldest leave first. Default 10,000. */
  readonly max?: number;
  /** How long at most a denial is believed, 1 .. 2^31-1 ms. Default 1,000. */
  readonly staleMs?: number;
  /** Ledger names (`limiter/limit`, or a shared ledger's) whose denials the store must always see. */
  readonly except?: readonly string[];
  /** A clock in ms; default `performance.now`. With a store on a caller's clock, that clock: then its steps back are seen at once. */
  readonly now?: () => number;
}

export interface DenialMemory {
  /** Questions answered here, and denials that are remembered now. */
  denials(): { readonly answered: number; readonly remembered: number };
}

/** Changes are told apart for this many ledgers at most. */
const MOST_PLACES = 65_536;

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
  const max = wholeNumber('max', options.max ?? 10_000, 1, 8_000_000);
  const staleMs = wholeNumber('staleMs', options.staleMs ?? 1_000, 1, LONGEST_TIMER_MS);
  const except = new Set(options.except);
  const now = options.now ?? monotonicNow;
  const table = new DenialTable(max);
  const changes = new LedgerChanges(Math.min(max, MOST_PLACES));
  let answered = 0;
  /** The latest time of a denial, by the store. */
  let latest = Number.NEGATIVE_INFINITY;

  function recall(step: Step): AskOutcome | undefined {
    if (table.size === 0 || step.op !== 'consume') return undefined;
    // Before the search: a clock of the caller's may itself ask, and what was found would be gone.
    const at = now();
    const denied = table.find(step.charges);
    if (denied === undefined) return undefined;
    if (!isBelieved(denied, at)) {
      table.remove(denied);
      return undefined;
    }
    answered += 1;
    const elapsedMs = Math.floor(at - denied.arrivedAt);
    if (elapsedMs !== denied.elapsedMs) {
      denied.elapsedMs = elapsedMs;
      denied.aged = agedBy(denied.outcome, elapsedMs);
    }
    return denied.aged;
  }

  function isBelieved({ arrivedAt, until, places, asOf }: Denied, at: number): boolean {
    // A clock that was set back says nothing of how long ago this was.
    if (at >= until || at < arrivedAt) return false;
    for (let i = 0; i < places.length; i += 1) if (changes.since(places[i] as number, asOf)) return false;
    return true;
  }

  function learn(step: Step, outcome: Outcome | undefined, sentAt: number, changesBefore: number): void {
    if (step.op === 'consume' && outcome?.ok === true && outcome.op === 'consume' && isDenial(step, outcome))
      remember(step, outcome, sentAt, changesBefore);
    else noteChanges(step, outcome);
  }

  function remember(step: AskStep, outcome: AskOutcome, sentAt: number, changesBefore: number): void {
    const places = step.charges.map(({ ledger }) => changes.placeOf(ledger));
    const isOutdated = places.some((place) => changes.since(place, changesBefore));
    // After its clock was set back, the store has moved these ledgers, which it does for a denial too.
    if (outcome.now < latest) noteChanges(step, outcome);
    else latest = outcome.now;
    if (isOutdated || outcome.by !== undefined || step.charges.some(({ ledger }) => except.has(ledger.name))) return;
    const arrivedAt = now();
    const until = sentAt + Math.min(staleMs, sameForMs(step.charges, outcome.verdicts));
    if (arrivedAt >= until) return;
    const aged = agedBy(outcome, 0);
    const asOf = changes.count;
    table.add(step.charges, { outcome: aged, arrivedAt, until, asOf, places, elapsedMs: 0, aged }, arrivedAt);
  }

  /** What a step that was answered may have changed; an unknown outcome, or none, may have changed everything that it names. */
  function noteChanges(step: Step, outcome: Outcome | undefined): void {
    if (outcome?.ok === false && outcome.fault !== 'unknown-outcome') return;
    if (step.op === 'reset') for (const ledger of step.ledgers) changes.add(ledger);
    else if (step.op === 'adjust') for (const { ledger } of step.adjustments) changes.add(ledger);
    else if (step.op === 'consume') for (const { ledger, cost } of step.charges) if (cost > 0) changes.add(ledger);
  }

  async function ask(steps: readonly Step[], signal: DeadlineSignal | undefined): Promise<readonly Outcome[]> {
    const sentAt = now();
    const changesBefore = changes.count;
    try {
      const outcomes = await store.run(steps, signal);
      for (let i = 0; i < steps.length; i += 1) learn(steps[i] as Step, outcomes[i], sentAt, changesBefore);
      return outcomes;
    } catch (error) {
      for (const step of steps) noteChanges(step, undefined);
      throw error;
    }
  }

  /** A run is answered here up to the first step that the store must see: what comes behind it may depend on it. */
  function run(steps: readonly Step[], signal?: DeadlineSignal): Promise<readonly Outcome[]> {
    const known: Outcome[] = [];
    for (const step of steps) {
      const outcome = recall(step);
      if (outcome === undefined) break;
      known.push(agedBy(outcome, 0));
    }
    if (known.length === 0) return ask(steps, signal);
    if (known.length === steps.length) return Promise.resolve(known);
    return ask(steps.slice(known.length), signal).then((outcomes) => [...known, ...outcomes]);
  }

  function call(asked: AskingStore, asking: Asking): void {
    const known = recall(asking.step);
    if (known !== undefined) {
      asking.answer(agedBy(known, 0));
      return;
    }
    const sentAt = now();
    const changesBefore = changes.count;
    const watched = new WatchedAsking(asking, (outcome) => learn(asking.step, outcome, sentAt, changesBefore));
    try {
      asked.ask(watched);
    } catch (error) {
      // Nobody knows what became of it, whatever the asker makes of the throw.
      watched.seen(undefined);
      throw error;
    }
  }

  const decorated = decorate(store, run, (inner) => (step) => {
    const recalled = recall(step);
    if (recalled !== undefined) return agedBy(recalled, 0);
    const sentAt = now();
    const changesBefore = changes.count;
    let outcome: Outcome | undefined;
    try {
      outcome = inner(step);
      return outcome;
    } finally {
      learn(step, outcome, sentAt, changesBefore);
    }
  });
  const denials = () => ({ answered, remembered: table.size });
  const remembering = addShortcuts(Object.assign(decorated, { denials }), { recall });
  return canBeAsked(store) ? addShortcuts(remembering, { ask: (asking: Asking) => call(store, asking) }) : remembering;
}

/** A store that answers nonsense is another's to judge; nothing of it is remembered. */
function isDenial(step: AskStep, { allowed, verdicts }: AskOutcome): boolean {
  return allowed === false && Array.isArray(verdicts) && verdicts.length === step.charges.length;
}

/**
 * For how long these verdicts stay as they are but for their waits, which get shorter: until the first of them has passed. One
 * change is in no wait: a limit that refuses by more than what it holds back comes to refuse by that alone.
 */
function sameForMs(charges: readonly Charge[], verdicts: readonly Verdict[]): number {
  let first = Number.POSITIVE_INFINITY;
  for (let i = 0; i < verdicts.length; i += 1) {
    const { rule, cost, holdBack } = charges[i] as Charge;
    const { admits, heldBack, retryAfterMs, resetAfterMs, moreAfterMs } = verdicts[i] as Verdict;
    if (retryAfterMs > 0) first = Math.min(first, retryAfterMs);
    if (resetAfterMs > 0) first = Math.min(first, resetAfterMs);
    if (moreAfterMs > 0) first = Math.min(first, moreAfterMs);
    const becomesHeldBack = !admits && !heldBack && holdBack > 0 && cost <= ruleLimit(rule);
    // What a fixed window has used is used to its end.
    if (becomesHeldBack && rule.algorithm !== 'fixed-window') return 0;
  }
  return first;
}

/**
 * The denial `elapsedMs` later. It is made anew; and whoever gets more than a look at a remembered one gets one of their own, so
 * that what a caller does to an answer concerns that answer only.
 */
function agedBy(outcome: AskOutcome, elapsedMs: number): AskOutcome {
  const shorter = (waitMs: number): number => (waitMs === 0 ? 0 : waitMs - elapsedMs);
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
