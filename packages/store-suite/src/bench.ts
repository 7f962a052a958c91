/** The bench on which a store is tried: a clock to turn, ledgers that no other check uses, and the steps in short form. */
import { strict as assert } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Adjusted,
  type Adjustment,
  type AdjustOutcome,
  type AdjustStep,
  type AskOutcome,
  type AskStep,
  type Charge,
  type Ledger,
  type Outcome,
  type Rule,
  ruleGrid,
  type Step,
  type Store,
  type SyncStore,
  type Verdict,
} from '@limiter/core';
import type { Need } from './check.js';
import { type Capabilities, lacks, type StoreFactory, type StoreUnderTest } from './subject.js';

/** 2023-11-14T22:13:20Z, a whole number of seconds; no window of a check that is aligned to the clock starts here by accident. */
export const START = 1_700_000_000_000;

export interface ChargeOptions {
  readonly values?: readonly string[];
  readonly holdBack?: number;
  readonly enforce?: boolean;
}

let benches = 0;

export class Bench {
  readonly capabilities: Capabilities;
  readonly #factory: StoreFactory;
  readonly #opened: StoreUnderTest[] = [];
  readonly #bench: number;
  #subject: StoreUnderTest | undefined;
  #names = 0;
  #now = START;

  constructor(factory: StoreFactory, capabilities: Capabilities = {}) {
    this.#factory = factory;
    this.capabilities = capabilities;
    benches += 1;
    this.#bench = benches;
  }

  // ---- the store -------------------------------------------------------------------------------------------------

  /** Opens the store of this bench; called once, before the first check. */
  async open(): Promise<void> {
    this.#subject = await this.#make(() => this.#now);
  }

  async close(): Promise<void> {
    const opened = this.#opened.splice(0);
    for (const subject of opened) await (subject.close ?? (() => subject.store.close?.()))();
  }

  async #make(clock: () => number): Promise<StoreUnderTest> {
    const made = await this.#factory({ clock });
    const subject: StoreUnderTest = 'store' in made ? made : { store: made };
    this.#opened.push(subject);
    return subject;
  }

  /** Runs `check` on a store that holds nothing yet. */
  async fresh(check: (bench: Bench) => Promise<void>): Promise<void> {
    const bench = new Bench(this.#factory, this.capabilities);
    await bench.open();
    try {
      await check(bench);
    } finally {
      await bench.close();
    }
  }

  get subject(): StoreUnderTest {
    assert.ok(this.#subject, 'the bench is not open');
    return this.#subject;
  }

  get store(): Store {
    return this.subject.store;
  }

  get syncStore(): SyncStore {
    const { store } = this;
    assert.ok(store.traits.sync && store.runSync !== undefined, 'the store has no runSync; declare `unsupported.sync`');
    return store as SyncStore;
  }

  /** Another handle on the same data, with its own clock. */
  async second(clock: () => number): Promise<Store> {
    const { second } = this.subject;
    assert.ok(second, 'the factory returns no `second`; return it, or declare `unsupported["second-handle"]`');
    return await second({ clock });
  }

  async dump(): Promise<string> {
    const { dump } = this.subject;
    assert.ok(dump, 'the factory returns no `dump`; return it, or declare `unsupported.dump`');
    return await dump();
  }

  async damage(ledger: Ledger): Promise<void> {
    const { damage } = this.subject;
    assert.ok(damage, 'the factory returns no `damage`; return it, or declare `unsupported.damage`');
    await damage(ledger);
  }

  can(need: Need): boolean {
    return lacks(this.capabilities, need) === undefined;
  }

  // ---- time ------------------------------------------------------------------------------------------------------

  /** The turned clock. */
  get now(): number {
    return this.#now;
  }

  set now(ms: number) {
    this.#now = ms;
  }

  /** Lets time pass: turns the clock, or waits for real where the store has its own. */
  async wait(ms: number): Promise<void> {
    if (this.can('turned-clock')) this.#now += ms;
    else if (ms > 0) await sleep(ms);
  }

  // ---- ledgers ---------------------------------------------------------------------------------------------------

  /** A name that no other check of this bench has used. */
  name(limit = 'limit'): string {
    this.#names += 1;
    return `bench${this.#bench}.${this.#names}/${limit}`;
  }

  ledger(rule: Rule, name: string, values: readonly string[] = ['someone']): Ledger {
    const one = this.can('several-slots') ? {} : { slot: name.split('/')[0] };
    return { name, grid: ruleGrid(rule), values, ...one };
  }

  charge(rule: Rule, name: string, cost = 1, options: ChargeOptions = {}): Charge {
    const { values, holdBack = 0, enforce = true } = options;
    return { ledger: this.ledger(rule, name, values), rule, cost, holdBack, enforce };
  }

  /** Another limit for the same caller, in the same slot. */
  beside(charge: Charge, rule: Rule, limit: string, cost = 1): Charge {
    const { name, values, slot } = charge.ledger;
    const ledger = { name: `${name.split('/')[0]}/${limit}`, grid: ruleGrid(rule), values };
    return { ledger: slot === undefined ? ledger : { ...ledger, slot }, rule, cost, holdBack: 0, enforce: true };
  }

  // ---- steps -----------------------------------------------------------------------------------------------------

  async run(steps: readonly Step[], store: Store = this.store): Promise<readonly Outcome[]> {
    const outcomes = await store.run(steps);
    assert.equal(outcomes.length, steps.length, 'one outcome per step');
    return outcomes;
  }

  async ask(op: AskStep['op'], charges: readonly Charge[], store: Store = this.store): Promise<AskOutcome> {
    const [outcome] = await this.run([{ op, charges }], store);
    return asAsk(outcome, op);
  }

  consume(...charges: readonly Charge[]): Promise<AskOutcome> {
    return this.ask('consume', charges);
  }

  peek(...charges: readonly Charge[]): Promise<AskOutcome> {
    return this.ask('peek', charges);
  }

  async adjust(adjustments: readonly Adjustment[], once?: AdjustStep['once']): Promise<AdjustOutcome> {
    const [outcome] = await this.run([{ op: 'adjust', adjustments, once }]);
    return asAdjust(outcome);
  }

  /** Gives back `amount` (default: all) of what `verdict` says was charged. */
  async refund(charge: Charge, verdict: Verdict, amount: number = charge.cost): Promise<Adjusted> {
    const { adjusted } = await this.adjust([giveBack(charge, verdict, amount)]);
    return adjusted[0] as Adjusted;
  }

  /** Charges `amount` more, which nothing refuses. */
  async settleUp(charge: Charge, verdict: Verdict, amount: number): Promise<Adjusted> {
    const { adjusted } = await this.adjust([{ ...giveBack(charge, verdict, amount), change: 'charge' }]);
    return adjusted[0] as Adjusted;
  }

  async reset(...ledgers: readonly Ledger[]): Promise<void> {
    const [outcome] = await this.run([{ op: 'reset', ledgers }]);
    assert.deepEqual({ ok: outcome?.ok, op: outcome?.ok === true ? outcome.op : 'fault' }, { ok: true, op: 'reset' });
  }
}

export function giveBack(charge: Charge, verdict: Verdict, amount: number = charge.cost): Adjustment {
  const { ledger, rule, cost } = charge;
  return { ledger, rule, mark: verdict.mark, charged: cost, change: 'give-back', amount };
}

export function asAsk(outcome: Outcome | undefined, op?: AskStep['op']): AskOutcome {
  if (outcome?.ok === false)
    throw new Error(`the store answered with a fault: ${outcome.fault}`, { cause: outcome.cause });
  assert.ok(
    outcome !== undefined && (outcome.op === 'consume' || outcome.op === 'peek'),
    'an outcome of the asked kind',
  );
  if (op !== undefined) assert.equal(outcome.op, op);
  return outcome;
}

export function asAdjust(outcome: Outcome | undefined): AdjustOutcome {
  if (outcome?.ok === false)
    throw new Error(`the store answered with a fault: ${outcome.fault}`, { cause: outcome.cause });
  assert.ok(outcome?.op === 'adjust', 'an outcome of the asked kind');
  return outcome;
}

/** The verdict of a step with one charge. */
export function only(outcome: AskOutcome): Verdict {
  assert.equal(outcome.verdicts.length, 1, 'one verdict per charge');
  return outcome.verdicts[0] as Verdict;
}
