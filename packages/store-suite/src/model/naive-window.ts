/** Fixed window, from its definition: `used` = admitted cost in the current window. */
import type { FixedWindowRule } from '@limiter/core';
import { type Entry, limitOf, MAX_WHOLE, type NaiveLedger } from './naive-ledger.js';

interface WindowCharge extends Entry {
  kept: bigint;
  /** The window in which it was made: the only one in which it can be given back. */
  readonly madeIn: object;
  /** The window in which it counts; another one when a step back has moved it. */
  readonly countsIn: object;
}

export class NaiveWindow implements NaiveLedger {
  #charges: WindowCharge[] = [];
  #start: bigint | undefined;
  #window: object = {};
  #lastRule: FixedWindowRule | undefined;
  #forgettableAt: bigint | undefined;

  get anchor(): bigint | undefined {
    return this.#start;
  }

  #current(rule: FixedWindowRule, at: bigint): readonly WindowCharge[] {
    if (this.#start === undefined || at - this.#start >= BigInt(rule.windowMs)) return [];
    return this.#charges.filter((charge) => charge.countsIn === this.#window);
  }

  #used(rule: FixedWindowRule, at: bigint): bigint {
    return this.#current(rule, at).reduce((sum, charge) => sum + charge.kept, 0n);
  }

  isFull(rule: FixedWindowRule, at: bigint): boolean {
    return this.#used(rule, at) === 0n;
  }

  isForgettable(at: bigint): boolean {
    const rule = this.#lastRule;
    if (rule === undefined || this.#start === undefined) return true;
    // A window that starts with its first request is kept until it has ended.
    return rule.align === 'clock' ? this.isFull(rule, at) : at - this.#start >= BigInt(rule.windowMs);
  }

  admits(rule: FixedWindowRule, at: bigint, cost: bigint, holdBack: bigint): boolean {
    return this.#used(rule, at) + cost <= limitOf(rule) - holdBack;
  }

  charge(rule: FixedWindowRule, at: bigint, cost: bigint): Entry {
    if (this.#start === undefined || at - this.#start >= BigInt(rule.windowMs)) {
      this.#start = startOf(rule, at);
      this.#window = {};
    }
    const charge: WindowCharge = { cost, kept: cost, madeIn: this.#window, countsIn: this.#window };
    this.#charges.push(charge);
    this.#written(rule);
    return charge;
  }

  moved(rule: FixedWindowRule, now: bigint): NaiveWindow {
    const next = new NaiveWindow();
    next.#start = startOf(rule, now);
    next.#charges = this.#charges.map((charge) =>
      charge.countsIn === this.#window ? { ...charge, countsIn: next.#window } : charge,
    );
    next.#written(rule);
    return next;
  }

  room(rule: FixedWindowRule, at: bigint): bigint {
    const twice = 2n * limitOf(rule);
    const room = (twice < MAX_WHOLE ? twice : MAX_WHOLE) - this.#used(rule, at);
    return room > 0n ? room : 0n;
  }

  #refund(
    rule: FixedWindowRule,
    at: bigint,
    entry: Entry,
    amount: bigint,
  ): readonly [WindowCharge | undefined, bigint] {
    const charge = this.#current(rule, at).find((one) => one === entry && one.madeIn === this.#window);
    const kept = charge?.kept ?? 0n;
    return [charge, amount < kept ? amount : kept];
  }

  refundable(rule: FixedWindowRule, at: bigint, entry: Entry, amount: bigint): bigint {
    return this.#refund(rule, at, entry, amount)[1];
  }

  giveBack(rule: FixedWindowRule, at: bigint, entry: Entry, amount: bigint): bigint {
    const [charge, back] = this.#refund(rule, at, entry, amount);
    if (charge === undefined || back === 0n) return 0n;
    charge.kept -= back;
    this.#written(rule);
    return back;
  }

  isOpen(_rule: FixedWindowRule, at: bigint): boolean {
    return this.#forgettableAt !== undefined && at < this.#forgettableAt;
  }

  isLapsed(): boolean {
    return false;
  }

  passes(at: bigint): void {
    if (this.#start !== undefined && this.#forgettableAt === undefined && this.isForgettable(at))
      this.#forgettableAt = at;
  }

  #written(rule: FixedWindowRule): void {
    this.#lastRule = rule;
    this.#forgettableAt = undefined;
  }
}

/** The start of the window that holds `at`. */
function startOf(rule: FixedWindowRule, at: bigint): bigint {
  if (rule.align === 'first-request') return at;
  const [window, offset] = [BigInt(rule.windowMs), BigInt(rule.offsetMs)];
  let start = ((at - offset) / window) * window + offset;
  if (start > at) start -= window;
  return start;
}
