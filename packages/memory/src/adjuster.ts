/** Refunds and settles: each finds its ledger, lets core judge it, stores what it says. */
import { type Adjusted, type Adjustment, type AdjustOutcome, type AdjustStep, adjust } from '@limiter/core';
import { keyOf, markerKeyOf } from './keys.js';
import type { Ledgers } from './ledgers.js';
import { newScratch, type Scratch, type Space } from './space.js';
import { exhaustedUntilOf, forgetAtOf } from './standing.js';

export class Adjuster {
  readonly #ledgers: Ledgers;
  readonly #newId: () => number;
  readonly #scratch: Scratch = newScratch();

  constructor(ledgers: Ledgers, newId: () => number) {
    this.#ledgers = ledgers;
    this.#newId = newId;
  }

  adjust(step: AdjustStep, now: number): AdjustOutcome {
    if (step.once !== undefined && !this.#mark(step.once, now)) {
      return { ok: true, op: 'adjust', now, closed: true, adjusted: [] };
    }
    const adjusted = step.adjustments.map((adjustment) => this.#adjustOne(adjustment, now));
    this.#ledgers.table.sweep(now, adjusted.length + 1);
    return { ok: true, op: 'adjust', now, closed: false, adjusted };
  }

  #adjustOne(adjustment: Adjustment, now: number): Adjusted {
    const { ledger, rule } = adjustment;
    const { table } = this.#ledgers;
    const key = keyOf(ledger);
    let slot = table.use(key);
    let space = this.#ledgers.space(ledger, 0);
    let row = slot < 0 || space === undefined ? -1 : this.#ledgers.row(slot, space);
    const state = row < 0 ? undefined : (space as Space).read(row, this.#scratch);
    const { adjusted, change } = adjust(adjustment, state, now, this.#newId);
    if (change === undefined) return adjusted;
    space ??= this.#ledgers.addSpace(ledger, rule);
    if (slot < 0) slot = table.add(key, now);
    if (row < 0) row = this.#ledgers.addRow(slot, space);
    space.write(row, change);
    const written = space.read(row, this.#scratch);
    this.#ledgers.tell(slot, forgetAtOf(rule, written), exhaustedUntilOf(rule, written, now), now, 1);
    return adjusted;
  }

  /** Leaves the marker of an adjustment that is done once; false when it is there already. It is kept as an exhausted key is. */
  #mark({ key, ttlMs }: NonNullable<AdjustStep['once']>, now: number): boolean {
    const { table } = this.#ledgers;
    const markerKey = markerKeyOf(key);
    const found = table.find(markerKey);
    if (found >= 0 && table.forgetAt(found) > now) return false;
    const slot = found >= 0 ? found : table.add(markerKey, now);
    table.settle(slot, now + ttlMs, now + ttlMs);
    return true;
  }
}
