/** Sliding window log, from its definition: a charge at t counts while now - t < windowMs. */
import type { SlidingWindowLogRule } from '@limiter/core';
import { type Entry, limitOf, MAX_WHOLE, type NaiveLedger } from './naive-ledger.js';

interface LogCharge extends Entry {
  at: bigint;
  kept: bigint;
  /** It was seen to be past: the store may have dropped it, so no clock may bring it back. */
  gone: boolean;
}

export class NaiveLog implements NaiveLedger {
  #charges: LogCharge[] = [];
  #lastRule: SlidingWindowLogRule | undefined;
  #forgettableAt: bigint | undefined;

  get anchor(): bigint | undefined {
    return this.#charges.reduce<bigint | undefined>(
      (newest, { at }) => (newest === undefined || at > newest ? at : newest),
      undefined,
    );
  }

  #counting(rule: SlidingWindowLogRule, at: bigint): readonly LogCharge[] {
    return this.#charges.filter((charge) => at - charge.at < BigInt(rule.windowMs));
  }

  #used(rule: SlidingWindowLogRule, at: bigint): bigint {
    const windowMs = BigInt(rule.windowMs);
    let used = 0n;
    for (const charge of this.#charges) if (at - charge.at < windowMs) used += charge.kept;
    return used;
  }

  isFull(rule: SlidingWindowLogRule, at: bigint): boolean {
    return this.#used(rule, at) === 0n;
  }

  isForgettable(at: bigint): boolean {
    return this.#lastRule === undefined || this.isFull(this.#lastRule, at);
  }

  admits(rule: SlidingWindowLogRule, at: bigint, cost: bigint, holdBack: bigint): boolean {
    return this.#used(rule, at) + cost <= limitOf(rule) - holdBack;
  }

  charge(rule: SlidingWindowLogRule, at: bigint, cost: bigint): Entry {
    const charge: LogCharge = { at, cost, kept: cost, gone: false };
    this.#charges.push(charge);
    this.#written(rule);
    return charge;
  }

  /** Every entry shifts so that the newest is at `now`; receipts follow their entry. */
  moved(rule: SlidingWindowLogRule, now: bigint): NaiveLog {
    const next = new NaiveLog();
    const shift = (this.anchor ?? now) - now;
    next.#charges = this.#charges.map((charge) => new ShiftedCharge(charge, shift));
    next.#written(rule);
    return next;
  }

  room(rule: SlidingWindowLogRule, at: bigint): bigint {
    const twice = 2n * limitOf(rule);
    const room = (twice < MAX_WHOLE ? twice : MAX_WHOLE) - this.#used(rule, at);
    return room > 0n ? room : 0n;
  }

  #refund(
    rule: SlidingWindowLogRule,
    at: bigint,
    entry: Entry,
    amount: bigint,
  ): readonly [LogCharge | undefined, bigint] {
    const charge = this.#counting(rule, at).find((one) => original(one) === original(entry));
    const kept = charge?.kept ?? 0n;
    return [charge, amount < kept ? amount : kept];
  }

  refundable(rule: SlidingWindowLogRule, at: bigint, entry: Entry, amount: bigint): bigint {
    return this.#refund(rule, at, entry, amount)[1];
  }

  giveBack(rule: SlidingWindowLogRule, at: bigint, entry: Entry, amount: bigint): bigint {
    const [charge, back] = this.#refund(rule, at, entry, amount);
    if (charge === undefined || back === 0n) return 0n;
    charge.kept -= back;
    this.#written(rule);
    return back;
  }

  isOpen(rule: SlidingWindowLogRule, at: bigint): boolean {
    if (this.#forgettableAt !== undefined && at < this.#forgettableAt) return true;
    return this.#counting(rule, at).some((charge) => charge.gone);
  }

  isLapsed(): boolean {
    return false;
  }

  passes(at: bigint): void {
    const rule = this.#lastRule;
    if (rule === undefined) return;
    const counting = new Set(this.#counting(rule, at));
    for (const charge of this.#charges) if (!counting.has(charge)) charge.gone = true;
    if (this.#forgettableAt === undefined && this.isForgettable(at)) this.#forgettableAt = at;
  }

  #written(rule: SlidingWindowLogRule): void {
    this.#lastRule = rule;
    this.#forgettableAt = undefined;
  }
}

/** A charge seen through a shift: the same entry, earlier. */
class ShiftedCharge implements LogCharge {
  readonly charge: LogCharge;
  readonly #shift: bigint;

  constructor(charge: LogCharge, shift: bigint) {
    this.charge = charge;
    this.#shift = shift;
  }

  get at(): bigint {
    return this.charge.at - this.#shift;
  }
  get cost(): bigint {
    return this.charge.cost;
  }
  get kept(): bigint {
    return this.charge.kept;
  }
  set kept(kept: bigint) {
    this.charge.kept = kept;
  }
  get gone(): boolean {
    return this.charge.gone;
  }
  set gone(gone: boolean) {
    this.charge.gone = gone;
  }
}

function original(entry: Entry): Entry {
  return entry instanceof ShiftedCharge ? original(entry.charge) : entry;
}
