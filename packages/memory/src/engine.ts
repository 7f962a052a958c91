/**
 * The steps, each at one instant: find the ledgers, let core judge them, store what it says. Nothing in here waits.
 *
 * Every consume and adjust looks at one more due key than it has charges, so keys leave faster than they come.
 */
import {
  type AdjustOutcome,
  type AdjustStep,
  type AskOutcome,
  type AskStep,
  type Change,
  type Charge,
  evaluate,
  type KeptEvaluation,
  type LedgerState,
  newEvaluation,
  type ResetOutcome,
  type ResetStep,
  type Verdict,
} from '@limiter/core';
import { Adjuster } from './adjuster.js';
import { keyOf } from './keys.js';
import type { Ledgers } from './ledgers.js';
import { NO_SPACE, newScratch, type Scratch, type Space } from './space.js';
import { exhaustedUntilOf, forgetAtOf, tellsStanding } from './standing.js';

export class Engine {
  readonly #ledgers: Ledgers;
  readonly #adjuster: Adjuster;
  /** Identities are never reused, and begin at random, so that a receipt from an earlier process finds nothing. */
  #lastId: number = Math.floor(Math.random() * 2 ** 52);
  readonly #newId = (): number => {
    this.#lastId += 1;
    return this.#lastId;
  };

  // Where the charges of the step in hand lie; the arrays stay, so that a step allocates none.
  readonly #keys: string[] = [];
  readonly #slots: number[] = [];
  readonly #rows: number[] = [];
  readonly #spaces: (Space | undefined)[] = [];
  readonly #states: (LedgerState | undefined)[] = [];
  readonly #scratches: Scratch[] = [];
  readonly #lent: KeptEvaluation = newEvaluation();
  /** How many charges `#keys` and `#slots` are of. */
  #located = 0;
  /** While the table has seen this many changes, the keys of `#slots` are the last used, in their order. */
  #usedAt = -1;

  constructor(ledgers: Ledgers) {
    this.#ledgers = ledgers;
    this.#adjuster = new Adjuster(ledgers, this.#newId);
  }

  /** `lent`: the outcome is this engine's own record, good until the next step. */
  ask(step: AskStep, now: number, lent: boolean): AskOutcome {
    const { charges } = step;
    if (charges.length === 1) return this.#askOne(step, charges[0] as Charge, now, lent);
    const consume = step.op === 'consume';
    this.#locate(charges, consume);
    const { outcome, changes } = evaluate(step, this.#states, now, this.#newId, lent ? this.#lent : undefined);
    if (!consume) return outcome;
    const { table } = this.#ledgers;
    const changesBefore = table.changes;
    this.#store(charges, outcome.verdicts, changes, now);
    if (table.changes === changesBefore) this.#countUses(changes, now);
    table.sweep(now, charges.length + 1);
    if (table.changes !== changesBefore) this.#useAgain(charges.length);
    return outcome;
  }

  /** As `#locate`, `evaluate`, `#store`, for the commonest step: there is no other charge to look after. */
  #askOne(step: AskStep, charge: Charge, now: number, lent: boolean): AskOutcome {
    const { table } = this.#ledgers;
    const { ledger, rule } = charge;
    const key = keyOf(ledger);
    let slot: number;
    if (this.#located === 1 && this.#usedAt === table.changes && this.#keys[0] === key) slot = this.#slots[0] as number;
    else {
      this.#keys[0] = key;
      this.#findSlots(1, step.op === 'consume');
      slot = this.#slots[0] as number;
    }
    let space = this.#ledgers.space(ledger, 0);
    let row = slot < 0 || space === undefined ? -1 : this.#ledgers.row(slot, space);
    this.#states[0] = row < 0 ? undefined : (space as Space).read(row, this.#scratch(0));
    const { outcome, changes } = evaluate(step, this.#states, now, this.#newId, lent ? this.#lent : undefined);
    const change = changes[0];
    if (change !== undefined) {
      space ??= this.#ledgers.addSpace(ledger, rule);
      if (slot < 0) slot = table.add(key, now);
      if (row < 0) row = this.#ledgers.addRow(slot, space);
      space.write(row, change);
      const verdict = outcome.verdicts[0] as Verdict;
      if (tellsStanding(verdict, charge.holdBack)) {
        this.#ledgers.tell(
          slot,
          now + verdict.resetAfterMs,
          verdict.remaining > 0 ? 0 : now + verdict.moreAfterMs,
          now,
          1,
        );
      } else {
        const state = space.read(row, this.#scratch(0));
        this.#ledgers.tell(slot, forgetAtOf(rule, state), exhaustedUntilOf(rule, state, now), now, 1);
      }
    } else if (slot >= 0 && step.op === 'consume') table.usedAt(slot, now);
    if (step.op === 'consume') table.sweep(now, 2);
    return outcome;
  }

  adjust(step: AdjustStep, now: number): AdjustOutcome {
    this.#usedAt = -1;
    return this.#adjuster.adjust(step, now);
  }

  reset(step: ResetStep, now: number): ResetOutcome {
    for (const ledger of step.ledgers) {
      const space = this.#ledgers.space(ledger, 0);
      const slot = this.#ledgers.table.find(keyOf(ledger));
      if (space !== undefined && slot >= 0) this.#ledgers.remove(slot, space);
    }
    this.#usedAt = -1;
    return { ok: true, op: 'reset', now };
  }

  /** Finds what is stored for every charge. A consume is a use of its keys, a peek is not. */
  #locate(charges: readonly Charge[], use: boolean): void {
    const { table } = this.#ledgers;
    const count = charges.length;
    let same = this.#usedAt === table.changes && this.#located === count;
    for (let i = 0; i < count; i += 1) {
      const key = keyOf((charges[i] as Charge).ledger);
      if (same && key !== this.#keys[i]) same = false;
      this.#keys[i] = key;
    }
    if (!same) this.#findSlots(count, use);
    for (let i = 0; i < count; i += 1) {
      const slot = this.#slots[i] as number;
      const space = this.#ledgers.space((charges[i] as Charge).ledger, i);
      // The rows of a key stay where they are as long as the table has not changed.
      if (!same || space !== this.#spaces[i] || (this.#rows[i] as number) < 0) {
        this.#spaces[i] = space;
        this.#rows[i] = slot < 0 || space === undefined ? -1 : this.#ledgers.row(slot, space);
      }
      const row = this.#rows[i] as number;
      this.#states[i] = row < 0 ? undefined : (space as Space).read(row, this.#scratch(i));
    }
  }

  /** Keys that were asked and not written. */
  #countUses(changes: readonly (Change | undefined)[], now: number): void {
    for (let i = 0; i < changes.length; i += 1) {
      const slot = this.#slots[i] as number;
      if (changes[i] === undefined && slot >= 0) this.#ledgers.table.usedAt(slot, now);
    }
  }

  #findSlots(count: number, use: boolean): void {
    const { table } = this.#ledgers;
    let complete = use;
    for (let i = 0; i < count; i += 1) {
      const key = this.#keys[i] as string;
      let slot: number;
      if (i > 0 && key === this.#keys[i - 1]) slot = this.#slots[i - 1] as number;
      else slot = use ? table.use(key) : table.find(key);
      if (slot < 0) complete = false;
      this.#slots[i] = slot;
    }
    this.#located = count;
    this.#usedAt = complete ? table.changes : -1;
  }

  #scratch(i: number): Scratch {
    let scratch = this.#scratches[i];
    if (scratch === undefined) {
      scratch = newScratch();
      this.#scratches[i] = scratch;
    }
    return scratch;
  }

  #store(
    charges: readonly Charge[],
    verdicts: readonly Verdict[],
    changes: readonly (Change | undefined)[],
    now: number,
  ): void {
    const { table } = this.#ledgers;
    const changesBefore = table.changes;
    for (let i = 0; i < changes.length; i += 1) {
      const change = changes[i];
      if (change === undefined) continue;
      const { ledger, rule } = charges[i] as Charge;
      let space = this.#spaces[i];
      if (space === undefined || space.index === NO_SPACE) {
        // A charge before this one may have made it.
        space = this.#ledgers.space(ledger, i) ?? this.#ledgers.addSpace(ledger, rule);
        this.#spaces[i] = space;
      }
      if (table.changes !== changesBefore || (this.#rows[i] as number) < 0) this.#place(i, space, now);
      space.write(this.#rows[i] as number, change, this.#states[i]);
    }
    if (table.changes !== changesBefore) this.#dropGone(changes);
    for (let i = 0; i < changes.length; i += 1) {
      if (changes[i] !== undefined && (this.#rows[i] as number) >= 0) this.#settle(i, charges, verdicts, changes, now);
    }
  }

  /** A key that was added may have put out one that was written before it, which may have come back without that row. */
  #dropGone(changes: readonly (Change | undefined)[]): void {
    for (let i = 0; i < changes.length; i += 1) {
      if (changes[i] === undefined) continue;
      const slot = this.#slots[i] as number;
      const stays = this.#ledgers.table.keyAt(slot) === this.#keys[i];
      this.#rows[i] = stays ? this.#ledgers.row(slot, this.#spaces[i] as Space) : -1;
    }
  }

  /** The row of the i-th charge, made where there is none; looked for again, since a key that was added may have put another out. */
  #place(i: number, space: Space, now: number): void {
    const { table } = this.#ledgers;
    const key = this.#keys[i] as string;
    let slot = table.find(key);
    if (slot < 0) slot = table.add(key, now);
    const row = this.#ledgers.row(slot, space);
    this.#slots[i] = slot;
    this.#rows[i] = row < 0 ? this.#ledgers.addRow(slot, space) : row;
  }

  /** Tells the table how the key of the i-th charge stands, once for all the rows of that key: at the first of them. */
  #settle(
    i: number,
    charges: readonly Charge[],
    verdicts: readonly Verdict[],
    changes: readonly (Change | undefined)[],
    now: number,
  ): void {
    const slot = this.#slots[i] as number;
    const key = this.#keys[i];
    for (let j = 0; j < i; j += 1) {
      if (changes[j] !== undefined && this.#keys[j] === key && (this.#rows[j] as number) >= 0) return;
    }
    let forgetAt = 0;
    let exhaustedUntil = 0;
    let written = 0;
    for (let j = i; j < changes.length; j += 1) {
      if (changes[j] === undefined || this.#keys[j] !== key || (this.#rows[j] as number) < 0) continue;
      written += 1;
      const charge = charges[j] as Charge;
      const verdict = verdicts[j] as Verdict;
      if (tellsStanding(verdict, charge.holdBack)) {
        forgetAt = Math.max(forgetAt, now + verdict.resetAfterMs);
        if (verdict.remaining === 0) exhaustedUntil = Math.max(exhaustedUntil, now + verdict.moreAfterMs);
      } else {
        const state = (this.#spaces[j] as Space).read(this.#rows[j] as number, this.#scratch(j));
        forgetAt = Math.max(forgetAt, forgetAtOf(charge.rule, state));
        exhaustedUntil = Math.max(exhaustedUntil, exhaustedUntilOf(charge.rule, state, now));
      }
    }
    this.#ledgers.tell(slot, forgetAt, exhaustedUntil, now, written);
  }

  /** Keys that were added or changed their place count as used in the order of the charges, like the others. */
  #useAgain(count: number): void {
    for (let i = 0; i < count; i += 1) this.#ledgers.table.use(this.#keys[i] as string);
  }
}
