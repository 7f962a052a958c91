/** Never over: what was charged and kept stays within the algorithm's bound in every interval, refunds included. */
import { strict as assert } from 'node:assert';
import type { Rule } from '@limiter/core';
import fc from 'fast-check';
import { type Bench, only } from '../bench.js';
import type { Check, Group } from '../check.js';
import { RULE_KINDS, type RuleKind, ruleOf } from '../histories.js';
import { forAll } from '../property.js';

interface Kept {
  readonly at: number;
  kept: number;
}

type Act =
  | { readonly op: 'consume'; readonly cost: number }
  | { readonly op: 'refund'; readonly which: number; readonly less: number }
  | { readonly op: 'wait'; readonly eighths: number; readonly plus: number };

const acts: fc.Arbitrary<readonly Act[]> = fc.array(
  fc.oneof(
    { arbitrary: fc.record({ op: fc.constant('consume' as const), cost: fc.integer({ min: 1, max: 5 }) }), weight: 5 },
    {
      arbitrary: fc.record({ op: fc.constant('refund' as const), which: fc.nat(), less: fc.nat({ max: 2 }) }),
      weight: 2,
    },
    {
      arbitrary: fc.record({
        op: fc.constant('wait' as const),
        eighths: fc.nat({ max: 9 }),
        plus: fc.integer({ min: -1, max: 1 }),
      }),
      weight: 3,
    },
  ),
  { minLength: 10, maxLength: 60, size: 'max' },
);

const period = (rule: Rule): number => (rule.algorithm === 'token-bucket' ? rule.refillMs : rule.windowMs);

/** The sum of what was kept at `from` <= t < `to`. */
const sum = (kept: readonly Kept[], from: number, to: number): number =>
  kept.reduce((total, one) => (one.at >= from && one.at < to ? total + one.kept : total), 0);

/** Throws when some interval holds more than the rule's bound. */
function withinBound(rule: Rule, kept: readonly Kept[]): void {
  for (const { at: from } of kept) {
    if (rule.algorithm === 'token-bucket') {
      for (const { at: to } of kept.filter(({ at }) => at >= from)) {
        const units = sum(kept, from, to + 1) * rule.refillMs;
        const bound = rule.capacity * rule.refillMs + (to - from) * rule.refillTokens;
        assert.ok(units <= bound, `${units} units in ${from} .. ${to}, the bound is ${bound}`);
      }
      continue;
    }
    const inWindow = sum(kept, from, from + rule.windowMs);
    const most = rule.algorithm === 'fixed-window' ? 2 * rule.limit : rule.limit;
    assert.ok(inWindow <= most, `${inWindow} in a window's length from ${from}, the bound is ${most}`);
    if (rule.algorithm !== 'fixed-window' || rule.align !== 'clock') continue;
    const start = from - ((((from - rule.offsetMs) % rule.windowMs) + rule.windowMs) % rule.windowMs);
    const aligned = sum(kept, start, start + rule.windowMs);
    assert.ok(aligned <= rule.limit, `${aligned} in the window that starts at ${start}, the limit is ${rule.limit}`);
  }
}

async function act(bench: Bench, rule: Rule, all: readonly Act[]): Promise<void> {
  const name = bench.name();
  const kept: Kept[] = [];
  const receipts: { readonly one: Kept; readonly back: (less: number) => Promise<number> }[] = [];
  for (const one of all) {
    if (one.op === 'wait') await bench.wait(Math.max(0, Math.floor((period(rule) / 8) * one.eighths) + one.plus));
    if (one.op === 'consume') {
      const charge = bench.charge(rule, name, one.cost);
      const outcome = await bench.consume(charge);
      if (!outcome.allowed) continue;
      const made = { at: outcome.now, kept: one.cost };
      kept.push(made);
      receipts.push({
        one: made,
        back: async (less) => (await bench.refund(charge, only(outcome), Math.max(0, one.cost - less))).givenBack,
      });
    }
    if (one.op === 'refund' && receipts.length > 0) {
      const [receipt] = receipts.splice(one.which % receipts.length, 1);
      if (receipt === undefined) continue;
      const asked = Math.max(0, receipt.one.kept - one.less);
      const givenBack = await receipt.back(one.less);
      // A bucket may give a part of a unit beyond the whole ones that it reports.
      const part = rule.algorithm === 'token-bucket' && givenBack < asked ? 1 : 0;
      receipt.one.kept -= givenBack + part;
    }
  }
  withinBound(rule, kept);
}

const BOUNDS: Record<RuleKind, string> = {
  'clock-window': 'a fixed window on the clock keeps at most its limit in each window',
  'first-request-window': "a fixed window from the first request keeps at most twice its limit in any window's length",
  log: "a sliding window log keeps at most its limit in any window's length",
  bucket: 'a token bucket keeps at most its capacity and what has come back, in any interval',
};

export const bounds: Group = {
  name: 'bounds',
  checks: RULE_KINDS.flatMap((kind): readonly Check[] => [
    {
      title: `${BOUNDS[kind]}, refunds included`,
      needs: ['turned-clock'],
      run: (bench) => forAll(bench, fc.tuple(ruleOf(kind, 'small'), acts), ([rule, all]) => act(bench, rule, all)),
    },
    {
      title: `${BOUNDS[kind]}, in windows that really pass`,
      run: (bench) =>
        forAll(bench, fc.tuple(ruleOf(kind, 'short'), acts), ([rule, all]) => act(bench, rule, all), 0.05),
    },
  ]),
};
