/** A random history, played on the Lua program and on the model at once; every number of every answer is compared. */
import { strict as assert } from 'node:assert';
import {
  type Adjustment,
  type Charge,
  type Ledger,
  type Mark,
  type Outcome,
  type Rule,
  ruleGrid,
  ruleLimit,
  type Step,
  type Store,
  type Verdict,
} from '@limiter/core';
import type { ClockMode } from './lua-store.js';
import { Model } from './model.js';
import { Random } from './random.js';
import { changedRule, randomRule, type Scale } from './rules.js';

const MAX = Number.MAX_SAFE_INTEGER;
const SCALES: readonly Scale[] = ['small', 'small', 'large', 'short'];
const BACK_MS = [1, 2, 500, 1_999, 2_000, 2_001, 2_002, 60_000, 3_600_000];

interface Receipt {
  readonly charge: Charge;
  /** By the Lua program, and by the model. */
  readonly marks: readonly [Mark, Mark];
}

/** A step for the Lua program and the same for the model, which differ in the marks that they name. */
interface Twin {
  readonly ours: Step;
  readonly models: Step;
}

export interface HistoryOptions {
  /** Runs the steps of one call; `clock` is turned by the history. */
  readonly storeOf: (options: {
    readonly clock: () => number;
    readonly prefix: string;
    readonly mode: ClockMode;
    readonly packedReply: boolean;
  }) => Store;
  /** A fresh one for every history. */
  readonly prefix: string;
  readonly calls: number;
  readonly seed: number;
}

/** Plays the history of `seed`; returns how many steps were compared. @throws at the first difference, with seed and place. */
export async function playHistory(options: HistoryOptions): Promise<number> {
  const history = new History(options);
  for (let call = 0; call < options.calls; call += 1) await history.call(call);
  return history.compared;
}

class History {
  readonly #random: Random;
  readonly #scale: Scale;
  readonly #model = new Model();
  readonly #store: Store;
  readonly #seed: number;
  readonly #receipts: Receipt[] = [];
  readonly #slot: string | undefined;
  /** Mostly what the straight ways through the program take: lone steps of up to three enforced windows and buckets, of cost 1. */
  readonly #common: boolean;
  #rules: Rule[];
  #shadow: boolean[];
  #now: number;
  #last: readonly Verdict[] = [];
  compared = 0;

  constructor({ storeOf, prefix, seed }: HistoryOptions) {
    this.#seed = seed;
    this.#random = new Random(seed);
    this.#scale = this.#random.of(SCALES);
    this.#common = this.#random.chance(2);
    const clock = (): number => this.#now;
    const mode = seed % 2 === 0 && !this.#common ? 'caller' : 'told';
    this.#store = storeOf({ clock, prefix, mode, packedReply: this.#common || !this.#random.chance(4) });
    const limits = this.#random.of(this.#common ? [1, 1, 2, 3] : [1, 1, 2, 3, 3, 4, 5]);
    this.#rules = Array.from({ length: limits }, () => this.#rule());
    this.#shadow = this.#shadows();
    this.#slot = this.#random.chance(3) ? 'together' : undefined;
    this.#now = this.#random.of([1_700_000_000_000, 0, 2 ** 52 - 2 ** 43]) + this.#random.from(0, 10_000_000);
  }

  async call(number: number): Promise<void> {
    const random = this.#random;
    if (random.chance(2)) this.#passTime();
    if (random.chance(8)) this.#rules = this.#rules.map((rule) => changedRule(random, rule, this.#scale));
    if (random.chance(30)) this.#shadow = this.#shadows();
    const steps = Array.from({ length: random.of(this.#common ? [1, 1, 1, 1, 1, 5] : [1, 1, 1, 2, 5, 12]) }, () =>
      this.#step(),
    );
    const outcomes = await this.#store.run(steps.map(({ ours }) => ours));
    for (const [i, { ours, models }] of steps.entries()) {
      const outcome = outcomes[i] as Outcome;
      const expected = this.#model.run(models, this.#now);
      this.#compare(`call ${number}, step ${i}`, ours, outcome, expected);
      this.#remember(models, outcome, expected);
    }
  }

  #rule(): Rule {
    for (;;) {
      const rule = randomRule(this.#random, this.#scale);
      const isStraight =
        rule.algorithm === 'token-bucket' || (rule.algorithm === 'fixed-window' && rule.align === 'clock');
      if (isStraight || !this.#common) return rule;
    }
  }

  #shadows(): boolean[] {
    return this.#rules.map(() => !this.#common && this.#random.chance(4));
  }

  #passTime(): void {
    const random = this.#random;
    const told = this.#last
      .flatMap(({ retryAfterMs, resetAfterMs, moreAfterMs }) => [retryAfterMs, resetAfterMs, moreAfterMs])
      .filter((ms) => ms > 0 && Number.isFinite(ms));
    const rule = random.of(this.#rules);
    const windowMs = rule.algorithm === 'token-bucket' ? rule.refillMs : rule.windowMs;
    const ms =
      told.length > 0 && random.chance(2)
        ? random.of(told) + random.from(-1, 1)
        : random.of([random.from(0, 5), random.from(0, 1_500), Math.floor(windowMs / random.from(1, 9)), windowMs]);
    const passed = random.chance(6) ? -random.of([...BACK_MS, random.from(1, 4_000)]) : ms;
    this.#now = Math.min(Math.max(0, this.#now + passed), 2 ** 52 - 1);
  }

  #step(): Twin {
    const random = this.#random;
    if (random.chance(40)) {
      const reset: Step = {
        op: 'reset',
        ledgers: this.#rules.map((rule, i) => this.#ledger(rule, i, random.from(0, 1))),
      };
      return { ours: reset, models: reset };
    }
    if (this.#receipts.length > 0 && random.chance(4)) return this.#adjust();
    const subject = random.from(0, 1);
    const charges = this.#rules.map((rule, i): Charge => {
      const limit = ruleLimit(rule);
      return {
        ledger: this.#ledger(rule, i, subject),
        rule,
        cost: this.#cost(limit, this.#last[i]?.remaining ?? limit),
        holdBack: random.chance(3) ? Math.min(limit, Math.floor((limit / 8) * random.from(0, 9))) : 0,
        enforce: !this.#shadow[i],
      };
    });
    const ask: Step = { op: random.chance(5) ? 'peek' : 'consume', charges };
    return { ours: ask, models: ask };
  }

  #ledger(rule: Rule, i: number, subject: number): Ledger {
    return { name: `limiter/limit${i}`, grid: ruleGrid(rule), values: [`subject ${subject}`], slot: this.#slot };
  }

  #cost(limit: number, remaining: number): number {
    const random = this.#random;
    if (this.#common && !random.chance(40)) return 1;
    const cost = random.of([1, 1, 1, random.from(0, 5), remaining + random.from(-1, 1), limit + random.from(-2, 1)]);
    return Math.min(Math.max(0, this.#scale === 'large' && random.chance(3) ? random.from(0, limit) : cost), MAX);
  }

  #adjust(): Twin {
    const random = this.#random;
    // Mostly one of the latest, and now and then one that was used already.
    const count = random.of([1, 1, 1, 2, 4]);
    const latest = this.#receipts.slice(random.chance(3) ? 0 : -6);
    const picked = Array.from({ length: count }, () => random.of(latest));
    const changes = picked.map(({ charge }) => this.#change(charge));
    const adjustments = (at: 0 | 1): Adjustment[] =>
      picked.map(({ charge, marks }, i) => ({
        ledger: charge.ledger,
        rule: charge.rule,
        mark: marks[at],
        charged: charge.cost,
        ...(changes[i] as Pick<Adjustment, 'change' | 'amount'>),
      }));
    const beside = (picked[0] as Receipt).charge.ledger;
    const once = random.chance(4)
      ? { key: `receipt ${random.from(0, 3)}`, ttlMs: random.of([60_000, 3_600_000]), beside }
      : undefined;
    return {
      ours: { op: 'adjust', adjustments: adjustments(0), once },
      models: { op: 'adjust', adjustments: adjustments(1), once },
    };
  }

  #change({ cost, rule }: Charge): Pick<Adjustment, 'change' | 'amount'> {
    const random = this.#random;
    if (!random.chance(4)) {
      const amount = random.of([cost, random.from(0, cost), Math.min(MAX, cost + 1), 1]);
      return { change: 'give-back', amount };
    }
    const limit = ruleLimit(rule);
    return { change: 'charge', amount: random.of([0, 1, random.from(0, 30), Math.floor(limit / 2), limit, MAX]) };
  }

  #compare(where: string, step: Step, outcome: Outcome, expected: Outcome): void {
    this.compared += 1;
    const place = `seed ${this.#seed}, ${where}, at ${this.#now}`;
    assert.deepEqual(plain(outcome), plain(expected), `${place}: ${JSON.stringify(step)}`);
  }

  #remember(step: Step, outcome: Outcome, expected: Outcome): void {
    if (!outcome.ok || !expected.ok || step.op === 'adjust' || step.op === 'reset') return;
    if (outcome.op !== expected.op || outcome.op === 'adjust' || outcome.op === 'reset') return;
    if (expected.op === 'adjust' || expected.op === 'reset') return;
    this.#last = expected.verdicts;
    for (const [i, charge] of step.charges.entries()) {
      const ours = outcome.verdicts[i]?.mark;
      const models = expected.verdicts[i]?.mark;
      if (ours !== undefined && models !== undefined) this.#receipts.push({ charge, marks: [ours, models] });
    }
  }
}

/** Without the marks, which are each store's own; that there is one stays. */
export function plain(outcome: Outcome): unknown {
  if (!outcome.ok || outcome.op === 'adjust' || outcome.op === 'reset') return outcome;
  return {
    ...outcome,
    verdicts: outcome.verdicts.map(({ mark, ...verdict }) => ({ ...verdict, marked: mark !== undefined })),
  };
}
