/** Refunds and settles, one ledger at a time. Pure, as `evaluate` is. */
import type { Adjusted, Adjustment } from '../store.js';
import { algorithms } from './by-name.js';
import type { Change, LedgerState } from './state.js';

export interface Adjusting {
  readonly adjusted: Adjusted;
  readonly change: Change | undefined;
}

/**
 * One ledger's part of a refund or settle at `now`. Giving back moves no anchor and stores no move. Charging more is a new
 * charge at `now` that nothing refuses, cut at twice the limit; what was cut is reported.
 */
export function adjust(
  adjustment: Adjustment,
  state: LedgerState | undefined,
  now: number,
  newId: () => number,
): Adjusting {
  const { rule, amount } = adjustment;
  const algorithm = algorithms[rule.algorithm];
  const view = algorithm.view(state, rule, now);
  if (adjustment.change === 'give-back') {
    if (adjustment.mark === undefined) return { adjusted: { givenBack: 0, charged: 0, cut: 0 }, change: undefined };
    const { givenBack, change } = algorithm.giveBack(view, rule, adjustment.charged, adjustment.mark, amount);
    return { adjusted: { givenBack, charged: 0, cut: 0 }, change };
  }
  const charged = Math.min(amount, algorithm.roomToSettle(view, rule));
  const change = charged > 0 ? algorithm.charge(view, rule, charged, newId) : algorithm.move(view, newId);
  return { adjusted: { givenBack: 0, charged, cut: amount - charged }, change };
}
