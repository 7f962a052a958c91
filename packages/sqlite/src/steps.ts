/** One step inside an open transaction: everything is read and judged before anything is written. */
import {
  type Adjusted,
  type AdjustStep,
  type AskStep,
  adjust,
  evaluate,
  type LedgerState,
  LimiterError,
  type Outcome,
  type ResetStep,
  type Step,
} from '@limiter/core';
import type { Connection } from './connection.js';
import { newId } from './identity.js';
import { ledgerKey, onceKey } from './keys.js';
import type { Entry } from './known.js';

const NOTHING: Adjusted = { givenBack: 0, charged: 0, cut: 0 };

/** What a step needs to know of its transaction. */
export interface Stage {
  readonly connection: Connection;
  /** Escaped. */
  readonly prefix: string;
  readonly clock: () => number;
  /** The time of this transaction; undefined until the clock is read, when the snapshot has been taken. */
  now: number | undefined;
  /** Something was written, or is about to be. */
  wrote: boolean;
}

/** @throws Corrupt, or what the driver throws; when `stage.wrote` is still false, nothing was written */
export function perform(stage: Stage, step: Step): Outcome {
  switch (step.op) {
    case 'consume':
    case 'peek':
      return ask(stage, step);
    case 'adjust':
      return adjustAll(stage, step);
    case 'reset':
      return reset(stage, step);
  }
}

function ask(stage: Stage, step: AskStep): Outcome {
  const { connection, prefix } = stage;
  const entries: Entry[] = [];
  const states: (LedgerState | undefined)[] = [];
  for (const { ledger, rule } of step.charges) {
    const entry = connection.ledgers.find(ledgerKey(prefix, ledger), rule);
    entries.push(entry);
    states.push(entry.state);
  }
  const { outcome, changes } = evaluate(step, states, timeOf(stage), newId);
  for (let i = 0; i < changes.length; i += 1) {
    const change = changes[i];
    const charge = step.charges[i];
    if (change === undefined || charge === undefined) continue;
    stage.wrote = true;
    connection.ledgers.write(entries[i] as Entry, charge.rule, change);
  }
  return outcome;
}

function adjustAll(stage: Stage, step: AdjustStep): Outcome {
  const { connection, prefix } = stage;
  const once = step.once === undefined ? undefined : onceKey(prefix, step.once.key);
  const usedUntil = once === undefined ? undefined : connection.fullAt.get(once)?.[0];
  const now = timeOf(stage);
  if (typeof usedUntil === 'number' && usedUntil > now) {
    return { ok: true, op: 'adjust', now, closed: true, adjusted: step.adjustments.map(() => NOTHING) };
  }
  const done: Adjusted[] = [];
  for (const adjustment of step.adjustments) {
    const { ledger, rule } = adjustment;
    const entry = connection.ledgers.find(ledgerKey(prefix, ledger), rule);
    const { adjusted, change } = adjust(adjustment, entry.state, now, newId);
    done.push(adjusted);
    if (change === undefined) continue;
    stage.wrote = true;
    connection.ledgers.write(entry, rule, change);
  }
  if (step.once !== undefined && once !== undefined) {
    stage.wrote = true;
    connection.putLedger.run(once, 0, 0, 0, 0, now + step.once.ttlMs, 0, null);
  }
  return { ok: true, op: 'adjust', now, closed: false, adjusted: done };
}

function reset(stage: Stage, step: ResetStep): Outcome {
  const keys = step.ledgers.map((ledger) => ledgerKey(stage.prefix, ledger));
  stage.wrote = true;
  for (const key of keys) stage.connection.ledgers.drop(key);
  return { ok: true, op: 'reset', now: timeOf(stage) };
}

function timeOf(stage: Stage): number {
  stage.now ??= readClock(stage.clock);
  return stage.now;
}

export function readClock(clock: () => number): number {
  const now = clock();
  // Adding 0 turns -0 into 0.
  if (Number.isSafeInteger(now) && now >= 0 && now < 2 ** 52) return now + 0;
  throw new LimiterError(
    'ERR_LIMITER_CLOCK',
    `the clock must return whole ms since the Unix epoch, 0 <= now < 2^52, got ${String(now)}`,
  );
}
