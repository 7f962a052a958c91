/** Many naive ledgers and one question: ask all, then charge all or none. */
import type { Adjusted, Adjustment, AskStep, Ledger, Rule } from '@limiter/core';
import { NaiveBucket } from './naive-bucket.js';
import { type Entry, judge, judgedAt, type NaiveLedger, numbers, type Report } from './naive-ledger.js';
import { NaiveLog } from './naive-log.js';
import { NaiveWindow } from './naive-window.js';

/** What the store must say of one limit. `entry` takes the place of the mark. */
export interface NaiveVerdict extends Report {
  readonly charged: boolean;
  readonly entry: Entry | undefined;
}

export interface NaiveOutcome {
  readonly allowed: boolean;
  readonly verdicts: readonly NaiveVerdict[];
}

export interface NaiveAdjustment extends Omit<Adjustment, 'mark'> {
  readonly entry: Entry | undefined;
}

/** Ledgers are told apart by a text that the caller makes: the model has no keys to get wrong. */
export class NaiveStore {
  readonly #ledgers = new Map<string, NaiveLedger>();

  #key(ledger: Ledger): string {
    return JSON.stringify([ledger.name, ledger.grid, ledger.values]);
  }

  #ledger(ledger: Ledger, rule: Rule): NaiveLedger {
    return this.#ledgers.get(this.#key(ledger)) ?? newLedger(rule);
  }

  /** The store sees `now`: what is past may from here on be forgotten. */
  passes(now: number): void {
    for (const ledger of this.#ledgers.values()) ledger.passes(BigInt(now));
  }

  /** Is the store free to answer in two ways, because something may have been forgotten that would count again? */
  isOpen(ledger: Ledger, rule: Rule, now: number): boolean {
    const stored = this.#ledgers.get(this.#key(ledger));
    if (stored === undefined) return false;
    stored.passes(BigInt(now));
    const judged = judgedAt(stored, rule, BigInt(now));
    return stored.isOpen(rule, BigInt(now)) || judged.ledger.isOpen(rule, judged.at);
  }

  /** May the store have a new identity for the ledger of this charge, and would giving back be seen? */
  isOpenRefund({ ledger, rule, entry, amount }: NaiveAdjustment, now: number): boolean {
    if (entry === undefined) return false;
    const judged = judgedAt(this.#ledger(ledger, rule), rule, BigInt(now));
    return judged.ledger.isLapsed(entry) && judged.ledger.refundable(rule, judged.at, entry, BigInt(amount)) > 0n;
  }

  ask(step: AskStep, now: number): NaiveOutcome {
    const asked = step.charges.map((charge) => {
      const judged = judgedAt(this.#ledger(charge.ledger, charge.rule), charge.rule, BigInt(now));
      const before = judge(judged, charge.rule, BigInt(charge.cost), BigInt(charge.holdBack));
      return { charge, judged, before };
    });
    const allowed = asked.every(({ charge, before }) => before.admits || !charge.enforce);
    const verdicts = asked.map(({ charge, judged, before }): NaiveVerdict => {
      const writes = step.op === 'consume' && charge.cost > 0;
      const charged = writes && allowed && before.admits;
      const entry = charged ? judged.ledger.charge(charge.rule, judged.at, BigInt(charge.cost)) : undefined;
      if (charged || (writes && judged.hasMoved)) this.#ledgers.set(this.#key(charge.ledger), judged.ledger);
      return { ...before, charged, entry, ...numbers(judged, charge.rule, BigInt(charge.holdBack)) };
    });
    this.passes(now);
    return { allowed, verdicts };
  }

  adjust(
    { ledger, rule, entry, change, amount }: NaiveAdjustment,
    now: number,
  ): Pick<Adjusted, 'givenBack' | 'charged' | 'cut'> {
    const judged = judgedAt(this.#ledger(ledger, rule), rule, BigInt(now));
    let [givenBack, charged] = [0n, 0n];
    if (change === 'give-back') {
      // A refund stores no move: a moved ledger is a copy, and only what a receipt can still reach is shared with it.
      if (entry !== undefined) givenBack = judged.ledger.giveBack(rule, judged.at, entry, BigInt(amount));
    } else {
      const room = judged.ledger.room(rule, judged.at);
      charged = room < BigInt(amount) ? room : BigInt(amount);
      if (charged > 0n) judged.ledger.charge(rule, judged.at, charged);
      if (charged > 0n || judged.hasMoved) this.#ledgers.set(this.#key(ledger), judged.ledger);
    }
    this.passes(now);
    const cut = change === 'charge' ? BigInt(amount) - charged : 0n;
    return { givenBack: Number(givenBack), charged: Number(charged), cut: Number(cut) };
  }

  reset(ledger: Ledger, now: number): void {
    this.passes(now);
    this.#ledgers.delete(this.#key(ledger));
  }
}

function newLedger(rule: Rule): NaiveLedger {
  switch (rule.algorithm) {
    case 'fixed-window':
      return new NaiveWindow() as NaiveLedger;
    case 'sliding-window-log':
      return new NaiveLog() as NaiveLedger;
    case 'token-bucket':
      return new NaiveBucket() as NaiveLedger;
  }
}
