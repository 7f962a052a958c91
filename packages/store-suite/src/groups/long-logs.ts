/** Sliding logs of thousands of charges: stores keep them in clever ways, and the answers are still those of a plain list. */
import { strict as assert } from 'node:assert';
import type { AdjustStep, AskStep, Charge } from '@limiter/core';
import { asAdjust, asAsk, type Bench, giveBack, only, START } from '../bench.js';
import type { Group } from '../check.js';
import { log } from '../rules.js';

const WINDOW_MS = 1_000_000;

interface Entry {
  readonly at: number;
  readonly charge: Charge;
  readonly step: AdjustStep;
  kept: number;
}

/** A log and, beside it, the plain list of what was charged. */
class LongLog {
  readonly #bench: Bench;
  readonly #limit: number;
  readonly #name: string;
  #entries: Entry[] = [];

  constructor(bench: Bench, limit: number) {
    this.#bench = bench;
    this.#limit = limit;
    this.#name = bench.name();
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  charge(cost: number): Charge {
    return this.#bench.charge(log(this.#limit, WINDOW_MS), this.#name, cost);
  }

  /** `times` charges at the present time. */
  async add(times: number, cost: (i: number) => number): Promise<void> {
    const charges = Array.from({ length: times }, (_, i) => this.charge(cost(i)));
    const steps = charges.map((charge): AskStep => ({ op: 'consume', charges: [charge] }));
    for (const [i, outcome] of (await this.#bench.run(steps)).entries()) {
      const charge = charges[i] as Charge;
      const verdict = only(asAsk(outcome));
      assert.equal(verdict.charged, true, `charge ${i} of ${charge.cost} fits`);
      const step: AdjustStep = { op: 'adjust', adjustments: [giveBack(charge, verdict)] };
      this.#entries.push({ at: this.#bench.now, charge, step, kept: charge.cost });
    }
  }

  async refund(which: (i: number) => boolean): Promise<void> {
    const entries = this.#entries.filter((entry, i) => which(i) && entry.kept > 0);
    const outcomes = await this.#bench.run(entries.map(({ step }) => step));
    for (const [i, entry] of entries.entries()) {
      const counts = this.#bench.now - entry.at < WINDOW_MS;
      const { givenBack } = asAdjust(outcomes[i]).adjusted[0] ?? {};
      assert.equal(givenBack, counts ? entry.kept : 0, `refund ${i}`);
      if (counts) entry.kept = 0;
    }
  }

  /** Looks at the log from every side, and compares with the list. */
  async look(): Promise<void> {
    const { now } = this.#bench;
    const entries = this.#entries.filter(({ at, kept }) => now - at < WINDOW_MS && kept > 0);
    const used = entries.reduce((sum, { kept }) => sum + kept, 0);
    const waitForUnits = (units: number): number => {
      if (units <= 0) return 0;
      let passed = 0;
      for (const { at, kept } of entries) {
        passed += kept;
        if (passed >= units) return at + WINDOW_MS - now;
      }
      return Number.NaN;
    };
    const costs = [1, 2, 17, 100, 999, 1_000].flatMap((part) => Math.ceil((this.#limit * part) / 1_000));
    const steps = costs.map((cost): AskStep => ({ op: 'peek', charges: [this.charge(cost)] }));
    for (const [i, outcome] of (await this.#bench.run(steps)).entries()) {
      const { remaining, retryAfterMs, resetAfterMs, moreAfterMs } = only(asAsk(outcome));
      const cost = costs[i] as number;
      assert.deepEqual(
        { cost, remaining, retryAfterMs, resetAfterMs, moreAfterMs },
        {
          cost,
          remaining: this.#limit - used,
          retryAfterMs: waitForUnits(cost - (this.#limit - used)),
          resetAfterMs: waitForUnits(used),
          moreAfterMs: waitForUnits(Math.min(1, used)),
        },
      );
    }
  }
}

/** 2,000 charges, forty at a time, every ten seconds. */
async function fill(bench: Bench, cost: (i: number) => number): Promise<LongLog> {
  const long = new LongLog(bench, 6_000);
  bench.now = START;
  for (let batch = 0; batch < 50; batch += 1) {
    await long.add(40, (i) => cost(batch * 40 + i));
    bench.now += 10_000;
  }
  return long;
}

async function answersLikeAList(bench: Bench): Promise<void> {
  const long = await fill(bench, (i) => 1 + (i % 5));
  await long.look();
  for (const ms of [499_999, 1, 123_456, 300_000, 1_000_000]) {
    bench.now += ms;
    await long.look();
  }
}

async function manyRefunds(bench: Bench): Promise<void> {
  const long = await fill(bench, (i) => 1 + (i % 3));
  const last = long.entries.length - 1;
  await long.refund((i) => i === last || i === 0);
  await long.look();
  await long.refund((i) => i % 3 === 1);
  await long.look();
  await long.refund((i) => i >= 700 && i < 1_300);
  await long.look();
  await long.add(100, () => 7);
  bench.now += 700_000;
  await long.look();
  await long.refund((i) => i % 5 === 0);
  await long.look();
  for (let i = 0; i < 4; i += 1) {
    bench.now += 90_000;
    await long.add(20, () => 3);
    await long.refund((at) => at % 7 === i);
    await long.look();
  }
}

async function movedWithTheClock(bench: Bench): Promise<void> {
  const limit = 6_000;
  const long = await fill(bench, () => 2);
  await long.refund((i) => i % 2 === 0);
  const newest = START + 490_000;
  const peek = async (cost: number): Promise<readonly number[]> => {
    const { remaining, retryAfterMs, resetAfterMs, moreAfterMs } = only(await bench.peek(long.charge(cost)));
    return [remaining, retryAfterMs, resetAfterMs, moreAfterMs];
  };
  bench.now = newest - 3_600_000;
  // 2,000 units are kept, 40 of each batch; the newest is now, the first was 490,000 ms before.
  await bench.consume(long.charge(limit));
  assert.deepEqual(await peek(limit), [4_000, WINDOW_MS, WINDOW_MS, WINDOW_MS - 490_000]);
  assert.deepEqual(await peek(4_041), [4_000, WINDOW_MS - 480_000, WINDOW_MS, WINDOW_MS - 490_000]);
  bench.now += WINDOW_MS - 490_000;
  assert.deepEqual(await peek(4_041), [4_040, 10_000, 490_000, 10_000]);
}

async function oneMoment(bench: Bench): Promise<void> {
  const long = new LongLog(bench, 3_000);
  bench.now = START;
  await long.add(1_000, (i) => 1 + (i % 3));
  await long.look();
  await long.refund((i) => i % 2 === 0);
  await long.look();
  bench.now += WINDOW_MS - 1;
  await long.look();
  bench.now += 1;
  await long.look();
}

export const longLogs: Group = {
  name: 'long logs',
  checks: [
    {
      title: 'a log of 2,000 charges tells every wait like a plain list',
      needs: ['turned-clock'],
      run: answersLikeAList,
    },
    {
      title: 'a log of 2,000 charges, most of them refunded in any order, answers like a plain list',
      needs: ['turned-clock'],
      run: manyRefunds,
    },
    {
      title: 'a log of 2,000 charges moves as a whole with a clock that is set back an hour',
      needs: ['turned-clock'],
      run: movedWithTheClock,
    },
    { title: 'a thousand charges at one moment are a thousand charges', needs: ['turned-clock'], run: oneMoment },
  ],
};
