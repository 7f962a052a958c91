/**
 * What a rule's algorithm says, whatever the rule. The state that comes with a rule is the one that its ledger's grid names, so
 * the pairing holds by construction.
 */
import type { Rule } from '../rule.js';
import type { Charge, Mark } from '../store.js';
import type { Numbers, Writable } from './algorithm.js';
import { fixedWindowAlgorithm, newWindowView, type WindowView } from './fixed-window.js';
import { type LogView, newLogView, slidingWindowLogAlgorithm } from './sliding-window-log.js';
import {
  type BucketState,
  type Change,
  type LedgerState,
  type LogChange,
  type LogState,
  newBucketState,
  newWindowState,
  type WindowState,
} from './state.js';
import { ceilDiv } from './time.js';
import { type BucketView, newBucketView, tokenBucketAlgorithm } from './token-bucket.js';

/** A record for the view of a charge, whichever its algorithm. */
export interface Views {
  readonly window: Writable<WindowView>;
  readonly bucket: Writable<BucketView>;
  readonly log: Writable<LogView>;
}

export function newViews(): Views {
  return { window: newWindowView(), bucket: newBucketView(), log: newLogView() };
}

/** A record for what a charge stores; a log's change is always new. */
export interface States {
  readonly window: Writable<WindowState>;
  readonly bucket: Writable<BucketState>;
}

export function newStates(): States {
  return { window: newWindowState(), bucket: newBucketState() };
}

// What every decision calls goes by a switch over constants, where a look-up in the table would be shorter: what is called is
// then known, and the engine inlines it.

export function viewOf(rule: Rule, state: LedgerState | undefined, now: number, into: Views): unknown {
  switch (rule.algorithm) {
    case 'fixed-window':
      return fixedWindowAlgorithm.view(state as WindowState | undefined, rule, now, into.window);
    case 'sliding-window-log':
      return slidingWindowLogAlgorithm.view(state as LogState | undefined, rule, now, into.log);
    case 'token-bucket':
      return tokenBucketAlgorithm.view(state as BucketState | undefined, rule, now, into.bucket);
  }
}

export function admits({ rule, cost, holdBack }: Charge, view: unknown): boolean {
  if (cost === 0) return true;
  switch (rule.algorithm) {
    case 'fixed-window':
      return fixedWindowAlgorithm.admits(view as WindowView, rule, cost, holdBack);
    case 'sliding-window-log':
      return slidingWindowLogAlgorithm.admits(view as LogView, rule, cost, holdBack);
    case 'token-bucket':
      return tokenBucketAlgorithm.admits(view as BucketView, rule, cost, holdBack);
  }
}

export function chargeOf({ rule, cost }: Charge, view: unknown, newId: () => number, keep: States | undefined): Change {
  switch (rule.algorithm) {
    case 'fixed-window':
      return fixedWindowAlgorithm.charge(view as WindowView, rule, cost, newId, keep?.window);
    case 'sliding-window-log':
      return slidingWindowLogAlgorithm.charge(view as LogView, rule, cost, newId);
    case 'token-bucket':
      return tokenBucketAlgorithm.charge(view as BucketView, rule, cost, newId, keep?.bucket);
  }
}

export function moveOf(rule: Rule, view: unknown, newId: () => number): Change | undefined {
  switch (rule.algorithm) {
    case 'fixed-window':
      return fixedWindowAlgorithm.move(view as WindowView, newId);
    case 'sliding-window-log':
      return slidingWindowLogAlgorithm.move(view as LogView, newId);
    case 'token-bucket':
      return tokenBucketAlgorithm.move(view as BucketView, newId);
  }
}

export function numbersOf(rule: Rule, view: unknown, holdBack: number, added: number, into: Writable<Numbers>): void {
  switch (rule.algorithm) {
    case 'fixed-window':
      fixedWindowAlgorithm.numbers(view as WindowView, rule, holdBack, added, into);
      return;
    case 'sliding-window-log':
      slidingWindowLogAlgorithm.numbers(view as LogView, rule, holdBack, added, into);
      return;
    case 'token-bucket':
      tokenBucketAlgorithm.numbers(view as BucketView, rule, holdBack, added, into);
  }
}

export function markOf(rule: Rule, view: unknown, charged: Change, into: Writable<Mark> | undefined): Mark {
  switch (rule.algorithm) {
    case 'fixed-window':
      return fixedWindowAlgorithm.mark(view as WindowView, charged as WindowState, into);
    case 'sliding-window-log':
      return slidingWindowLogAlgorithm.mark(view as LogView, charged as LogChange, into);
    case 'token-bucket':
      return tokenBucketAlgorithm.mark(view as BucketView, charged as BucketState, into);
  }
}

export function waitMsOf({ rule, cost, holdBack }: Charge, view: unknown): number {
  switch (rule.algorithm) {
    case 'fixed-window':
      return fixedWindowAlgorithm.waitMs(view as WindowView, rule, cost, holdBack);
    case 'sliding-window-log':
      return slidingWindowLogAlgorithm.waitMs(view as LogView, rule, cost, holdBack);
    case 'token-bucket':
      return tokenBucketAlgorithm.waitMs(view as BucketView, rule, cost, holdBack);
  }
}

/**
 * The instant from which a window or bucket may be forgotten: its budget is full again (a window: has ended), under `rule`,
 * which wrote it. For a log it is the newest entry's time + windowMs.
 */
export function fullAgainAt(
  rule: Exclude<Rule, { algorithm: 'sliding-window-log' }>,
  state: WindowState | BucketState,
): number {
  if (rule.algorithm === 'fixed-window') return (state as WindowState).start + rule.windowMs;
  const bucket = state as BucketState;
  return bucket.at + ceilDiv(bucket.debt, rule.refillTokens);
}
