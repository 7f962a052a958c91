/**
 * Denials by their question, found without making anything: the values of the axes lead, one map each, to the denials of one
 * caller, which are compared in full. A value that is that of the axis before leads no further, so three limits of one user
 * are one step.
 *
 * ```
 * root -- "org 1" -- "user 17"   denied: cost 5 | cost 8
 *      \- "user 4"               denied: cost 1
 * ```
 *
 * Bounded: beyond `max` the oldest leaves, and beyond 64 of one caller that caller's oldest.
 */
import { type Rule, ruleLimit } from './rule.js';
import type { AskOutcome, Charge } from './store.js';

/** Costs may be the caller's to choose, and the denials of one caller are looked through one by one. */
const MOST_OF_ONE_CALLER = 64;

/** A charge as it was asked: everything that its verdict depends on, besides what is stored. */
interface AskedCharge {
  readonly name: string;
  readonly grid: string;
  readonly slot: string | undefined;
  readonly values: readonly string[];
  readonly limit: number;
  readonly refillTokens: number;
  readonly cost: number;
  readonly holdBack: number;
  readonly enforce: boolean;
}

/** What is remembered of a denial. */
export interface Denied {
  readonly outcome: AskOutcome;
  readonly arrivedAt: number;
  /** When it is not believed any more. */
  readonly until: number;
  /** The number of the last change that it knows of, and the places of its ledgers (see LedgerChanges). */
  readonly asOf: number;
  readonly places: readonly number[];
  /** The outcome as it is `elapsedMs` after its arrival, for all who ask in the same ms. */
  elapsedMs: number;
  aged: AskOutcome;
}

/** A denial with its place in both lists: the caller's, newest first, and everybody's by age. */
interface Entry extends Denied {
  readonly asked: readonly AskedCharge[];
  readonly caller: Caller;
  next: Entry | undefined;
  older: Entry | undefined;
  newer: Entry | undefined;
}

interface Caller {
  readonly value: string;
  readonly parent: Caller | undefined;
  callers: Map<string, Caller> | undefined;
  first: Entry | undefined;
}

export class DenialTable {
  readonly #max: number;
  readonly #root: Caller = { value: '', parent: undefined, callers: undefined, first: undefined };
  #oldest: Entry | undefined;
  #newest: Entry | undefined;
  size = 0;

  constructor(max: number) {
    this.#max = max;
  }

  find(charges: readonly Charge[]): Denied | undefined {
    let caller: Caller | undefined = this.#root;
    let before: string | undefined;
    for (let i = 0; i < charges.length; i += 1) {
      const { values } = (charges[i] as Charge).ledger;
      for (let j = 0; j < values.length; j += 1) {
        const value = values[j] as string;
        if (value === before) continue;
        caller = caller.callers?.get(value);
        if (caller === undefined) return undefined;
        before = value;
      }
    }
    return entryOf(caller, charges);
  }

  /** Remembers a denial in place of an earlier one of the same question. */
  add(charges: readonly Charge[], denied: Denied, now: number): void {
    const caller = this.#callerOf(charges);
    const before = entryOf(caller, charges);
    const asked = before?.asked ?? charges.map(copyOf);
    if (before !== undefined) this.#unlink(before);
    const entry: Entry = { ...denied, asked, caller, next: caller.first, older: this.#newest, newer: undefined };
    caller.first = entry;
    if (this.#newest === undefined) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
    this.size += 1;
    let ofCaller = 0;
    for (let one: Entry | undefined = entry; one !== undefined; one = one.next) {
      ofCaller += 1;
      if (ofCaller > MOST_OF_ONE_CALLER) this.#remove(one);
    }
    // Each looks at two of the oldest, so that what is past leaves as fast as it came.
    for (let looked = 0; looked < 2 && this.#oldest !== undefined; looked += 1)
      if (this.size > this.#max || this.#oldest.until <= now) this.#remove(this.#oldest);
  }

  remove(denied: Denied): void {
    this.#remove(denied as Entry);
  }

  #callerOf(charges: readonly Charge[]): Caller {
    let caller = this.#root;
    let before: string | undefined;
    for (const { ledger } of charges) {
      for (const value of ledger.values) {
        if (value === before) continue;
        caller.callers ??= new Map();
        let next = caller.callers.get(value);
        if (next === undefined) {
          next = { value, parent: caller, callers: undefined, first: undefined };
          caller.callers.set(value, next);
        }
        caller = next;
        before = value;
      }
    }
    return caller;
  }

  #remove(entry: Entry): void {
    this.#unlink(entry);
    let { caller } = entry;
    while (caller.parent !== undefined && caller.first === undefined && !caller.callers?.size) {
      caller.parent.callers?.delete(caller.value);
      caller = caller.parent;
    }
  }

  #unlink(entry: Entry): void {
    const { caller, older, newer } = entry;
    if (caller.first === entry) caller.first = entry.next;
    else {
      let before = caller.first as Entry;
      while (before.next !== entry) before = before.next as Entry;
      before.next = entry.next;
    }
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    this.size -= 1;
  }
}

function entryOf(caller: Caller, charges: readonly Charge[]): Entry | undefined {
  let entry = caller.first;
  while (entry !== undefined && !isSame(entry.asked, charges)) entry = entry.next;
  return entry;
}

function isSame(asked: readonly AskedCharge[], charges: readonly Charge[]): boolean {
  if (asked.length !== charges.length) return false;
  for (let i = 0; i < asked.length; i += 1) {
    const one = asked[i] as AskedCharge;
    const { ledger, rule, cost, holdBack, enforce } = charges[i] as Charge;
    if (one.cost !== cost || one.holdBack !== holdBack || one.enforce !== enforce) return false;
    if (one.limit !== ruleLimit(rule) || one.refillTokens !== refillTokensOf(rule)) return false;
    if (one.name !== ledger.name || one.grid !== ledger.grid || one.slot !== ledger.slot) return false;
    const { values } = ledger;
    if (one.values.length !== values.length) return false;
    for (let j = 0; j < values.length; j += 1) if (one.values[j] !== values[j]) return false;
  }
  return true;
}

function copyOf({ ledger, rule, cost, holdBack, enforce }: Charge): AskedCharge {
  const { name, grid, slot, values } = ledger;
  return {
    name,
    grid,
    slot,
    values: [...values],
    limit: ruleLimit(rule),
    refillTokens: refillTokensOf(rule),
    cost,
    holdBack,
    enforce,
  };
}

/** The one number of a rule that is neither its limit nor in its grid. */
function refillTokensOf(rule: Rule): number {
  return rule.algorithm === 'token-bucket' ? rule.refillTokens : 0;
}
