/**
 * Redis Cluster, `crossSlot: 'give-back'`: a decision whose limits lie in several slots is made slot by slot, and what the earlier
 * slots were charged is given back when a later one refuses. The weaker promise: never more is admitted than the limits allow, but a
 * call that fits may be refused while another is being given back; and what cannot be given back (a lost answer, a process
 * that dies in between) stays charged until its window ends. Each give-back is sent at most once.
 */
import type {
  Adjusted,
  AdjustStep,
  AskOutcome,
  AskStep,
  Charge,
  DeadlineSignal,
  FaultOutcome,
  Ledger,
  Outcome,
  ResetStep,
  Step,
  Verdict,
} from '@limiter/core';
import { unknownOutcome } from './faults.js';
import { ledgersOf } from './slots.js';

type Run = (steps: readonly Step[], signal?: DeadlineSignal) => Promise<readonly Outcome[]>;

/** Things of one slot, with their places in the step that they come from. */
interface Part<T> {
  readonly items: T[];
  readonly places: number[];
}

function bySlot<T>(items: readonly T[], ledgerOf: (item: T) => Ledger, slotOf: (ledger: Ledger) => number): Part<T>[] {
  const parts = new Map<number, Part<T>>();
  for (const [place, item] of items.entries()) {
    const slot = slotOf(ledgerOf(item));
    const part = parts.get(slot) ?? { items: [], places: [] };
    part.items.push(item);
    part.places.push(place);
    parts.set(slot, part);
  }
  return [...parts.values()];
}

/**
 * @param run sends steps that lie in one slot each.
 * @param slotOf the slot of a ledger.
 */
export function givingBack(run: Run, slotOf: (ledger: Ledger) => number): Run {
  const spans = (step: Step): boolean => new Set(ledgersOf(step).map(slotOf)).size > 1;
  const one = async (step: Step, signal: DeadlineSignal | undefined): Promise<Outcome> =>
    (await run([step], signal))[0] as Outcome;

  /** Only for a step whose outcome is an answer or a fault of its own kind. */
  const ask = async (step: AskStep, signal: DeadlineSignal | undefined): Promise<AskOutcome | FaultOutcome> =>
    (await one(step, signal)) as AskOutcome | FaultOutcome;

  async function peek(step: AskStep, signal: DeadlineSignal | undefined): Promise<Outcome> {
    const parts = bySlot(step.charges, ({ ledger }) => ledger, slotOf);
    const outcomes = await Promise.all(parts.map(({ items }) => ask({ ...step, op: 'peek', charges: items }, signal)));
    const fault = outcomes.find((outcome) => !outcome.ok);
    return fault ?? merged(step, parts, outcomes as AskOutcome[]);
  }

  async function consume(step: AskStep, signal: DeadlineSignal | undefined): Promise<Outcome> {
    const parts = bySlot(step.charges, ({ ledger }) => ledger, slotOf);
    // What only watches comes last: it must not be charged for a call that is refused after all.
    const enforcing = (part: Part<Charge>): boolean => part.items.some(({ enforce, cost }) => enforce && cost > 0);
    parts.sort((a, b) => Number(enforcing(b)) - Number(enforcing(a)));
    const outcomes: AskOutcome[] = [];
    for (const [i, part] of parts.entries()) {
      const outcome = await ask({ ...step, charges: part.items }, signal);
      if (outcome.ok) outcomes.push(outcome);
      if (outcome.ok && outcome.allowed) continue;
      await giveBack(parts.slice(0, i), outcomes);
      return outcome.ok ? refusal(step, parts, i, outcome, signal) : outcome;
    }
    return merged(step, parts, outcomes);
  }

  /** Sent whether or not the caller still waits, and once. */
  async function giveBack(parts: readonly Part<Charge>[], outcomes: readonly AskOutcome[]): Promise<void> {
    await Promise.all(
      parts.map(async ({ items }, i) => {
        const charged = outcomes[i]?.verdicts ?? [];
        const adjustments = items.flatMap(({ ledger, rule, cost }, place) => {
          const mark = charged[place]?.mark;
          if (mark === undefined) return [];
          return [{ ledger, rule, mark, charged: cost, change: 'give-back', amount: cost } as const];
        });
        if (adjustments.length > 0) await run([{ op: 'adjust', adjustments }]);
      }),
    );
  }

  /** The part that refused says why; the others are asked how they stand now that nothing is charged. */
  async function refusal(
    step: AskStep,
    parts: readonly Part<Charge>[],
    refusedBy: number,
    refused: AskOutcome,
    signal: DeadlineSignal | undefined,
  ): Promise<Outcome> {
    const outcomes = await Promise.all(
      parts.map((part, i) => (i === refusedBy ? refused : ask({ ...step, op: 'peek', charges: part.items }, signal))),
    );
    const fault = outcomes.find((outcome) => !outcome.ok);
    // Nothing is charged, so it does not matter for the promise that a part could not say how it stands.
    return fault ?? { ...merged(step, parts, outcomes as AskOutcome[]), allowed: false };
  }

  async function adjust(step: AdjustStep, signal: DeadlineSignal | undefined): Promise<Outcome> {
    const parts = bySlot(step.adjustments, ({ ledger }) => ledger, slotOf);
    const { once } = step;
    if (once !== undefined) {
      // The marker closes the receipt for everybody, so its slot is asked first.
      const first = slotOf(once.beside);
      const lies = (part: Part<{ readonly ledger: Ledger }>): boolean =>
        slotOf((part.items[0] as { ledger: Ledger }).ledger) === first;
      parts.sort((a, b) => Number(lies(b)) - Number(lies(a)));
      if (parts[0] === undefined || !lies(parts[0])) parts.unshift({ items: [], places: [] });
    }
    const adjusted: Adjusted[] = step.adjustments.map(() => ({ givenBack: 0, charged: 0, cut: 0 }));
    let now = 0;
    for (const [i, { items, places }] of parts.entries()) {
      const part: AdjustStep = { ...step, adjustments: items, once: i === 0 ? once : undefined };
      const outcome = await one(part, signal);
      if (!outcome.ok) {
        // What was done in earlier slots stays done: to try again would do it twice.
        return i === 0 ? outcome : unknownOutcome(outcome.cause);
      }
      if (outcome.op !== 'adjust') continue;
      now = Math.max(now, outcome.now);
      if (outcome.closed) return { ...outcome, adjusted };
      for (const [j, place] of places.entries()) adjusted[place] = outcome.adjusted[j] as Adjusted;
    }
    return { ok: true, op: 'adjust', now, closed: false, adjusted };
  }

  async function reset(step: ResetStep, signal: DeadlineSignal | undefined): Promise<Outcome> {
    const parts = bySlot(step.ledgers, (ledger) => ledger, slotOf);
    const outcomes = await Promise.all(parts.map(({ items }) => one({ ...step, ledgers: items }, signal)));
    return outcomes.find((outcome) => !outcome.ok) ?? (outcomes[0] as Outcome);
  }

  function spanning(step: Step, signal: DeadlineSignal | undefined): Promise<Outcome> {
    switch (step.op) {
      case 'consume':
        return consume(step, signal);
      case 'peek':
        return peek(step, signal);
      case 'adjust':
        return adjust(step, signal);
      case 'reset':
        return reset(step, signal);
    }
  }

  return async (steps, signal) => {
    if (!steps.some(spans)) return run(steps, signal);
    const outcomes: Outcome[] = [];
    let together: Step[] = [];
    const flush = async (): Promise<void> => {
      if (together.length > 0) outcomes.push(...(await run(together, signal)));
      together = [];
    };
    for (const step of steps) {
      if (!spans(step)) {
        together.push(step);
        continue;
      }
      await flush();
      outcomes.push(await spanning(step, signal));
    }
    await flush();
    return outcomes;
  };
}

/** The answers of the parts as one, in the order of the step's charges. */
function merged(step: AskStep, parts: readonly Part<Charge>[], outcomes: readonly AskOutcome[]): AskOutcome {
  const verdicts: Verdict[] = new Array(step.charges.length);
  for (const [i, { places }] of parts.entries()) {
    for (const [j, place] of places.entries()) verdicts[place] = outcomes[i]?.verdicts[j] as Verdict;
  }
  return {
    ok: true,
    op: step.op,
    now: Math.max(...outcomes.map(({ now }) => now)),
    allowed: outcomes.every(({ allowed }) => allowed),
    verdicts,
    atomic: false,
  };
}
