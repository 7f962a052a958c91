/** Plays a random history on the store and on the naive one, and compares every answer. */
import { strict as assert } from 'node:assert';
import { type AskStep, type Charge, type Outcome, type Rule, ruleLimit, type Verdict } from '@limiter/core';
import { asAdjust, asAsk, type Bench } from './bench.js';
import type { CostPick, History, Move, TimePick } from './histories.js';
import type { Entry } from './model/naive-ledger.js';
import { NaiveStore } from './model/naive-store.js';

const MAX = Number.MAX_SAFE_INTEGER;
const LAST_MS = 2 ** 52 - 1;

/** A charge that was made, not given back yet: the store's mark and the model's entry. */
interface Receipt {
  readonly charge: Charge;
  readonly verdict: Verdict;
  readonly entry: Entry | undefined;
}

const clamp = (n: number, low: number, high: number): number => Math.min(Math.max(n, low), high);

/** Which limits are asked for how much. */
export type Question = Pick<Move & { readonly op: 'ask' }, 'subject' | 'costs' | 'heldBack'>;

export class Player {
  readonly #bench: Bench;
  readonly #history: History;
  readonly #model = new NaiveStore();
  readonly #scope: string;
  readonly #receipts: Receipt[] = [];
  /** A ledger that the store may or may not have forgotten is left behind for a new one. */
  readonly #generations = new Map<string, number>();
  #rules: readonly Rule[];
  #verdicts: readonly Verdict[] = [];
  #queue: AskStep[] = [];
  #step = 0;

  constructor(bench: Bench, history: History) {
    this.#bench = bench;
    this.#history = history;
    this.#scope = bench.name('');
    this.#rules = history.variants[0] as readonly Rule[];
  }

  async play(): Promise<void> {
    if (this.#turned) this.#bench.now = this.#history.start;
    for (const move of this.#history.moves) {
      this.#step += 1;
      if (move.op !== 'ask') await this.#flush();
      await this.#move(move);
      if (this.#queue.length >= this.#history.batch) await this.#flush();
    }
    await this.#flush();
  }

  get #turned(): boolean {
    return this.#bench.can('turned-clock');
  }

  async #move(move: Move): Promise<void> {
    switch (move.op) {
      case 'ask':
        return this.#ask(move);
      case 'time':
        return await this.#pass(move.pick);
      case 'give-back':
        return await this.#giveBack(move.which, move.less);
      case 'charge':
        return await this.#charge(move.which, move.more);
      case 'set':
        this.#rules = this.#history.variants[move.variant % this.#history.variants.length] as readonly Rule[];
        return;
      case 'reset':
        return await this.#reset(move.subject);
    }
  }

  async #pass(pick: TimePick): Promise<void> {
    const ms = this.#ms(pick);
    if (this.#turned) this.#bench.now = clamp(this.#bench.now + ms, 0, LAST_MS);
    else await this.#bench.wait(clamp(ms, 0, 60));
  }

  #ms(pick: TimePick): number {
    switch (pick.kind) {
      case 'plain':
        return pick.ms;
      case 'back':
        return -pick.ms;
      case 'part': {
        const rule = this.#rules[0] as Rule;
        return Math.floor(((rule.algorithm === 'token-bucket' ? rule.refillMs : rule.windowMs) / 4) * pick.quarters);
      }
      case 'told': {
        const waits = this.#verdicts.map((verdict) => verdict[pick.wait]).filter((ms) => ms > 0 && Number.isFinite(ms));
        return waits.length === 0 ? 0 : Math.max(0, Math.max(...waits) + pick.plus);
      }
    }
  }

  /** A ledger of its own for every limit and subject; a new one when the store may have forgotten it. */
  #values(at: number, subject: number, rule: Rule): readonly string[] {
    const name = `limit${at}`;
    const who = `${name} ${subject}`;
    const values = (): readonly string[] => [`subject${subject}`, `generation${this.#generations.get(who) ?? 0}`];
    const ledger = this.#bench.ledger(rule, this.#scope + name, values());
    if (this.#turned && this.#model.isOpen(ledger, rule, this.#bench.now)) {
      this.#generations.set(who, (this.#generations.get(who) ?? 0) + 1);
    }
    return values();
  }

  /** The limits as they are after the history, as charges of one step. */
  charges(move: Question): readonly Charge[] {
    return this.#rules.map((rule, i) => {
      const most = ruleLimit(rule);
      const holdBack = clamp(Math.ceil((most / 8) * move.heldBack), 0, MAX);
      const cost = costOf(move.costs[i] as CostPick, Math.max(0, most - holdBack), this.#verdicts[i]);
      const values = this.#values(i, move.subject, rule);
      return this.#bench.charge(rule, `${this.#scope}limit${i}`, cost, {
        values,
        holdBack,
        enforce: this.#history.enforce[i] as boolean,
      });
    });
  }

  #ask(move: Move & { readonly op: 'ask' }): void {
    this.#queue.push({ op: move.consume ? 'consume' : 'peek', charges: this.charges(move) });
  }

  async #flush(): Promise<void> {
    const steps = this.#queue;
    this.#queue = [];
    if (steps.length === 0) return;
    const outcomes = await this.#bench.run(steps);
    for (const [i, step] of steps.entries()) this.#compare(step, outcomes[i]);
  }

  #compare(step: AskStep, answered: Outcome | undefined): void {
    const outcome = asAsk(answered, step.op);
    const where = `move ${this.#step}: ${step.op} at ${outcome.now}`;
    if (this.#turned) assert.equal(outcome.now, this.#bench.now, `${where}: the time is the clock's`);
    const expected = this.#model.ask(step, outcome.now);
    const got = outcome.verdicts.map(({ mark, ...verdict }) => ({ ...verdict, marked: mark !== undefined }));
    const wanted = expected.verdicts.map(({ entry, ...verdict }) => ({ ...verdict, marked: entry !== undefined }));
    assert.deepEqual(
      { allowed: outcome.allowed, verdicts: got },
      { allowed: expected.allowed, verdicts: wanted },
      `${where}: ${shown(step)}`,
    );
    this.#verdicts = outcome.verdicts;
    if (!outcome.allowed || step.op === 'peek') return;
    for (const [i, charge] of step.charges.entries()) {
      const verdict = outcome.verdicts[i] as Verdict;
      if (verdict.admits) this.#receipts.push({ charge, verdict, entry: expected.verdicts[i]?.entry });
    }
  }

  /** One of the latest receipts; it is used once. */
  #take(which: number): Receipt | undefined {
    const { length } = this.#receipts;
    return this.#receipts.splice(length === 0 ? 0 : length - 1 - (which % length), 1)[0];
  }

  async #giveBack(which: number, less: number): Promise<void> {
    const receipt = this.#take(which);
    if (receipt !== undefined) await this.#adjust(receipt, 'give-back', clamp(receipt.charge.cost - less, 0, MAX));
  }

  async #charge(which: number, more: number): Promise<void> {
    const receipt = this.#take(which);
    if (receipt === undefined) return;
    // Up to 30 units more, in eighths of a large limit.
    const most = ruleLimit(receipt.charge.rule);
    await this.#adjust(receipt, 'charge', most < 10_000 ? more : Math.floor(most / 8) * more);
  }

  async #adjust({ charge, verdict, entry }: Receipt, change: 'give-back' | 'charge', amount: number): Promise<void> {
    const { ledger, rule, cost: charged } = charge;
    const whole = Math.min(amount, MAX);
    const naive = { ledger, rule, entry, charged, change, amount: whole };
    const now = this.#bench.now;
    if (this.#turned && (this.#model.isOpen(ledger, rule, now) || this.#model.isOpenRefund(naive, now))) return;
    const steps = [
      { op: 'adjust' as const, adjustments: [{ ledger, rule, mark: verdict.mark, charged, change, amount: whole }] },
    ];
    const outcome = asAdjust((await this.#bench.run(steps))[0]);
    const where = `move ${this.#step}: ${change} ${whole} of ${charged} at ${outcome.now} by ${JSON.stringify(rule)}`;
    assert.equal(outcome.closed, false, where);
    assert.deepEqual(outcome.adjusted, [this.#model.adjust(naive, outcome.now)], where);
  }

  async #reset(subject: number): Promise<void> {
    const ledgers = this.#rules.map((rule, i) =>
      this.#bench.ledger(rule, `${this.#scope}limit${i}`, this.#values(i, subject, rule)),
    );
    await this.#bench.reset(...ledgers);
    for (const ledger of ledgers) this.#model.reset(ledger, this.#bench.now);
  }
}

/** `budget`: the most that is ever admitted; only `of-limit` goes beyond it. */
function costOf(pick: CostPick, budget: number, last: Verdict | undefined): number {
  switch (pick.kind) {
    case 'plain':
      return Math.min(pick.cost, Math.max(1, budget));
    case 'of-limit':
      return clamp(budget - pick.less, 0, MAX);
    case 'of-remaining':
      return clamp((last?.remaining ?? 0) + pick.more, 0, budget);
  }
}

function shown(step: AskStep): string {
  return step.charges
    .map(({ rule, cost, holdBack, enforce }) => JSON.stringify({ cost, holdBack, enforce, rule }))
    .join('; ');
}
