/**
 * Token bucket, from its definition: debt(now) = max(0, debt0 - (now - t0) * refillTokens) in units of 1/refillMs token;
 * a charge adds cost * refillMs. The debt is worked out anew from the whole history after every event.
 */
import type { TokenBucketRule } from '@limiter/core';
import { type Entry, limitOf, MAX_WHOLE, type NaiveLedger } from './naive-ledger.js';

type Event =
  | { readonly kind: 'charge'; readonly at: bigint; readonly cost: bigint; readonly rule: TokenBucketRule }
  | { readonly kind: 'back'; readonly units: bigint }
  | { readonly kind: 'move'; readonly at: bigint };

const atLeastZero = (n: bigint): bigint => (n > 0n ? n : 0n);

function least(...numbers: readonly bigint[]): bigint {
  let found = numbers[0] as bigint;
  for (const n of numbers) if (n < found) found = n;
  return found;
}

/** What is left of a debt after `elapsed` ms. */
const decayed = (debt: bigint, elapsed: bigint, rule: TokenBucketRule): bigint =>
  atLeastZero(debt - elapsed * BigInt(rule.refillTokens));

export class NaiveBucket implements NaiveLedger {
  #history: Event[] = [];
  #lastRule: TokenBucketRule | undefined;
  #forgettableAt: bigint | undefined;
  /** Charges that were made before the ledger could be forgotten. */
  readonly #lapsed = new Set<Entry>();
  #folded = { events: -1, debt: 0n, at: undefined as bigint | undefined };

  /** The debt right after the last charge, and when that was. */
  #last(): { readonly debt: bigint; readonly at: bigint | undefined } {
    if (this.#folded.events === this.#history.length) return this.#folded;
    let debt = 0n;
    let at: bigint | undefined;
    for (const event of this.#history) {
      if (event.kind === 'charge') {
        debt = decayed(debt, event.at - (at ?? event.at), event.rule) + event.cost * BigInt(event.rule.refillMs);
        at = event.at;
      } else if (event.kind === 'back') debt -= event.units;
      else at = event.at;
    }
    this.#folded = { events: this.#history.length, debt, at };
    return this.#folded;
  }

  get anchor(): bigint | undefined {
    return this.#last().at;
  }

  #debt(rule: TokenBucketRule, now: bigint): bigint {
    const { debt, at } = this.#last();
    return decayed(debt, now - (at ?? now), rule);
  }

  isFull(rule: TokenBucketRule, at: bigint): boolean {
    return this.#debt(rule, at) === 0n;
  }

  isForgettable(at: bigint): boolean {
    return this.#lastRule === undefined || this.isFull(this.#lastRule, at);
  }

  admits(rule: TokenBucketRule, at: bigint, cost: bigint, holdBack: bigint): boolean {
    const budget = limitOf(rule) - holdBack;
    return cost <= budget && this.#debt(rule, at) <= (budget - cost) * BigInt(rule.refillMs);
  }

  charge(rule: TokenBucketRule, at: bigint, cost: bigint): Entry {
    const charge: Event = { kind: 'charge', at, cost, rule };
    this.#history.push(charge);
    this.#written(rule);
    return charge;
  }

  moved(rule: TokenBucketRule, now: bigint): NaiveBucket {
    const next = new NaiveBucket();
    next.#history = [...this.#history, { kind: 'move', at: now }];
    next.#written(rule);
    return next;
  }

  room(rule: TokenBucketRule, at: bigint): bigint {
    const refillMs = BigInt(rule.refillMs);
    const most = least(2n * limitOf(rule), MAX_WHOLE / refillMs) * refillMs;
    return atLeastZero(most - this.#debt(rule, at)) / refillMs;
  }

  /** The charges since the ledger was created or moved: those of its present identity. */
  #identity(): readonly Event[] {
    return this.#history.slice(this.#history.findLastIndex((event) => event.kind === 'move') + 1);
  }

  refundable(rule: TokenBucketRule, at: bigint, entry: Entry, amount: bigint): bigint {
    const charge = this.#identity().find((event) => event === entry);
    if (charge?.kind !== 'charge') return 0n;
    const refillMs = BigInt(rule.refillMs);
    const since = this.#history.slice(this.#history.indexOf(charge) + 1);
    const chargedSince = since.reduce((sum, event) => sum + (event.kind === 'charge' ? event.cost : 0n), 0n);
    const notRefilled = charge.cost * refillMs - (at - charge.at) * BigInt(rule.refillTokens);
    const notCovered = this.#debt(rule, at) - chargedSince * refillMs;
    const most = notRefilled > notCovered ? notRefilled : notCovered;
    return atLeastZero(least(least(amount, charge.cost) * refillMs, most, this.#debt(rule, at)));
  }

  giveBack(rule: TokenBucketRule, at: bigint, entry: Entry, amount: bigint): bigint {
    const units = this.refundable(rule, at, entry, amount);
    if (units === 0n) return 0n;
    this.#history.push({ kind: 'back', units });
    this.#written(rule);
    return units / BigInt(rule.refillMs);
  }

  isOpen(rule: TokenBucketRule, at: bigint): boolean {
    if (this.#forgettableAt === undefined) return false;
    // Forgotten or not is one answer, unless the clock goes back or the refill becomes slower.
    return at < this.#forgettableAt || !this.isFull(rule, at);
  }

  isLapsed(entry: Entry): boolean {
    if (this.#lapsed.has(entry)) return true;
    const charged = this.#identity().reduce((sum, event) => sum + (event.kind === 'charge' ? event.cost : 0n), 0n);
    return charged > MAX_WHOLE;
  }

  passes(at: bigint): void {
    if (this.#lastRule === undefined || this.#forgettableAt !== undefined || !this.isForgettable(at)) return;
    this.#forgettableAt = at;
    for (const event of this.#history) if (event.kind === 'charge') this.#lapsed.add(event);
  }

  #written(rule: TokenBucketRule): void {
    this.#lastRule = rule;
    this.#forgettableAt = undefined;
  }
}
