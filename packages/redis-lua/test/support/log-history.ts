/** A long random life of one sliding log: thousands of entries, hundreds of refunds, questions of every size in between. */
import { strict as assert } from 'node:assert';
import type { Adjustment, Charge, Mark, Outcome, Rule, Step } from '@limiter/core';
import { type HistoryOptions, plain } from './history.js';
import { Model } from './model.js';
import { Random } from './random.js';

const MAX = Number.MAX_SAFE_INTEGER;

/** As playHistory. */
export async function playLogHistory({ storeOf, prefix, calls, seed }: HistoryOptions): Promise<number> {
  const random = new Random(seed);
  const model = new Model();
  // What the straight way of a lone log takes, mostly: single steps, few refunds, small limits that are reached, silences.
  const common = random.chance(2);
  const large = !common && random.chance(4);
  const limits = common ? [3, 20, 200] : [200, 3_000, 1_000_000];
  const windowMs = random.of([50, 1_000, 3_600_000]);
  let limit = large ? random.of([MAX, 2 ** 52]) : random.of(limits);
  const rule = (): Rule => ({ algorithm: 'sliding-window-log', limit, windowMs });
  let now = 1_700_000_000_000 + random.from(0, windowMs);
  const store = storeOf({
    clock: () => now,
    prefix,
    mode: common ? 'told' : random.of(['caller', 'told']),
    packedReply: common || !random.chance(4),
  });
  const ledger = { name: 'limiter/log', grid: `l${windowMs}`, values: ['x'] };
  const refundsOneIn = common ? 100 : random.of([2, 4, 40]);
  const span = random.of([10, 40, 200]);
  let receipts: { readonly cost: number; readonly marks: readonly [Mark, Mark] }[] = [];
  let compared = 0;

  function ask(): Step {
    const never = common && random.chance(20);
    const cost = large
      ? random.of([1, random.from(0, 2 ** 52)])
      : random.of([1, 1, random.from(1, 9), never ? limit + random.from(0, 1) : random.from(0, limit)]);
    const charge: Charge = { ledger, rule: rule(), cost, holdBack: 0, enforce: true };
    return { op: random.chance(6) ? 'peek' : 'consume', charges: [charge] };
  }

  function adjust(): readonly [Step, Step] {
    const { cost, marks } = random.of(random.chance(3) ? receipts.slice(-2) : receipts);
    const amount = random.of([cost, random.from(0, cost)]);
    const charges = random.chance(20);
    const of = (at: 0 | 1): Step => {
      const adjustment: Adjustment = {
        ...{ ledger, rule: rule(), mark: marks[at], charged: cost, amount },
        change: charges ? 'charge' : 'give-back',
      };
      return { op: 'adjust', adjustments: [adjustment] };
    };
    return [of(0), of(1)];
  }

  for (let call = 0; call < calls; call += 1) {
    now += random.of([0, 0, 1, random.from(0, Math.ceil((windowMs * 2) / span))]);
    if (random.chance(60)) now -= random.of([1, 2_000, 2_001, 60_000]);
    if (random.chance(40)) now += random.of([windowMs - 1, Math.floor(windowMs / 2), 2 * windowMs]);
    if (common && random.chance(12)) now += windowMs + random.from(-1, 1);
    if (!large && random.chance(10)) limit = random.of(limits);
    const steps = Array.from(
      { length: random.of(common ? [1, 1, 1, 1, 1, 1, 1, 1, 1, 30] : [1, 5, 60]) },
      (): readonly [Step, Step] => {
        if (receipts.length > 0 && random.chance(refundsOneIn)) return adjust();
        const step = ask();
        return [step, step];
      },
    );
    const outcomes = await store.run(steps.map(([ours]) => ours));
    for (const [i, [ours, models]] of steps.entries()) {
      const outcome = outcomes[i] as Outcome;
      const expected = model.run(models, now);
      compared += 1;
      const place = `log seed ${seed}, call ${call}, step ${i}, at ${now}`;
      assert.deepEqual(plain(outcome), plain(expected), `${place}: ${JSON.stringify(ours)}`);
      if (!outcome.ok || !expected.ok || outcome.op !== 'consume' || expected.op !== 'consume') continue;
      const [mark, models_] = [outcome.verdicts[0]?.mark, expected.verdicts[0]?.mark];
      const cost = ours.op === 'consume' ? (ours.charges[0]?.cost ?? 0) : 0;
      if (mark !== undefined && models_ !== undefined) receipts.push({ cost, marks: [mark, models_] });
    }
    if (receipts.length > 3_000) receipts = receipts.slice(-2_000);
  }
  return compared;
}
