/** Where a ledger stands after a write: when it may be forgotten, and until when nothing more of cost 1 is admissible. */
import {
  algorithms,
  type BucketState,
  fullAgainAt,
  type LedgerState,
  type LogState,
  type Rule,
  type Verdict,
  type WindowState,
} from '@limiter/core';

/** From when on the ledger may be forgotten, under the rule that wrote it. */
export function forgetAtOf(rule: Rule, state: LedgerState): number {
  return rule.algorithm === 'sliding-window-log'
    ? (state as LogState).newestAt + rule.windowMs
    : fullAgainAt(rule, state as WindowState | BucketState);
}

/** Until when the ledger is exhausted, whoever asks; 0 when something is left. */
export function exhaustedUntilOf(rule: Rule, state: LedgerState, now: number): number {
  const algorithm = algorithms[rule.algorithm];
  const { remaining, moreAfterMs } = algorithm.numbers(algorithm.view(state, rule, now), rule, 0, 0);
  if (remaining > 0) return 0;
  // A limit of 0 has no such moment: it stays exhausted as long as it is kept.
  return moreAfterMs > 0 ? now + moreAfterMs : forgetAtOf(rule, state);
}

/** Does the verdict alone tell both? Not where something is held back, and not for a ledger that is full again yet kept. */
export function tellsStanding(verdict: Verdict, holdBack: number): boolean {
  return verdict.resetAfterMs > 0 && (verdict.remaining > 0 || (holdBack === 0 && verdict.moreAfterMs > 0));
}
