/** Golden cases of the definitions, computed by an independent reference. Every store gives these answers. */
import { strict as assert } from 'node:assert';
import type { Adjustment, AskOutcome, Charge, Rule, Verdict } from '@limiter/core';
import type { Bench } from '../bench.js';
import type { Check, Group } from '../check.js';
import {
  readVectors,
  type Vector,
  type VectorLimit,
  type VectorLimits,
  type VectorStatus,
  type VectorStep,
} from '../vectors.js';

interface Asked {
  readonly names: readonly string[];
  readonly charges: readonly Charge[];
  readonly outcome: AskOutcome;
  closed: boolean;
}

function ruleOf(limit: VectorLimit): Rule {
  const {
    limit: most = 0,
    windowMs = 0,
    align = 'clock',
    offsetMs = 0,
    capacity = 0,
    refillTokens = 0,
    refillMs = 0,
  } = limit;
  switch (limit.algorithm) {
    case 'fixed-window':
      return { algorithm: limit.algorithm, limit: most, windowMs, align, offsetMs };
    case 'sliding-window-log':
      return { algorithm: limit.algorithm, limit: most, windowMs };
    case 'token-bucket':
      return { algorithm: limit.algorithm, capacity, refillTokens, refillMs };
  }
}

/** r = ceil(limit * pct / 100) for a percentage, in whole numbers. */
function heldBack(limit: VectorLimit, priority: VectorStep['priority']): number {
  const reserve = priority === undefined ? 0 : (limit.reserve?.low ?? 0);
  if (typeof reserve === 'number') return reserve;
  const most = BigInt(limit.capacity ?? limit.limit ?? 0);
  return Number((most * BigInt(reserve.replace('%', '')) + 99n) / 100n);
}

const finite = (ms: number): number | null => (ms === Number.POSITIVE_INFINITY ? null : ms);

function reported(verdict: Verdict, expected: VectorStatus): VectorStatus {
  const { admits, remaining, retryAfterMs, resetAfterMs, moreAfterMs } = verdict;
  const numbers = { remaining, resetAfterMs: finite(resetAfterMs), moreAfterMs: finite(moreAfterMs) };
  return expected.allowed === undefined ? numbers : { allowed: admits, retryAfterMs: finite(retryAfterMs), ...numbers };
}

/** The longest wait of the enforced limits that refuse; 0 when allowed. */
function longestWait(outcome: AskOutcome, charges: readonly Charge[]): number {
  if (outcome.allowed) return 0;
  return Math.max(...outcome.verdicts.map((verdict, i) => (charges[i]?.enforce ? verdict.retryAfterMs : 0)));
}

async function play(bench: Bench, vector: Vector): Promise<void> {
  const scope = bench.name('');
  const asked: (Asked | undefined)[] = [];
  let limits: VectorLimits = vector.limits;

  const chargesOf = (step: VectorStep, cost: VectorStep['cost']): Charge[] =>
    Object.entries(limits).map(([name, limit]) =>
      bench.charge(ruleOf(limit), scope + name, typeof cost === 'object' ? (cost[name] ?? 0) : (cost ?? 1), {
        values: [step.subject],
        holdBack: heldBack(limit, step.priority),
        enforce: limit.mode === 'enforce',
      }),
    );

  async function adjust(step: VectorStep): Promise<void> {
    const receipt = asked[step.of ?? -1];
    // A denied call has no receipt, and a receipt is closed by its first use.
    if (receipt === undefined || !receipt.outcome.allowed || receipt.closed) return;
    receipt.closed = true;
    await bench.adjust(
      receipt.charges.flatMap((charge, i) => {
        const verdict = receipt.outcome.verdicts[i] as Verdict;
        const name = receipt.names[i] as string;
        const part = typeof step.cost === 'object' ? step.cost[name] : (step.cost ?? charge.cost);
        return verdict.admits && part !== undefined ? adjustment(step.op, charge, verdict, part) : [];
      }),
    );
  }

  for (const [i, step] of vector.steps.entries()) {
    bench.now = step.at;
    if (step.op === 'set') limits = step.limits ?? limits;
    if (step.op === 'refund' || step.op === 'settle') await adjust(step);
    const question = step.op === 'consume' || step.op === 'peek' ? step.op : 'peek';
    const charges = chargesOf(step, question === step.op ? step.cost : 1);
    const outcome = await bench.ask(question, charges);
    asked[i] = question === step.op ? { names: Object.keys(limits), charges, outcome, closed: false } : undefined;

    const where = `step ${i} (${step.op} at ${step.at})`;
    assert.equal(outcome.now, step.at, `${where}: the store's time`);
    const names = Object.keys(limits);
    const got = Object.fromEntries(
      outcome.verdicts.map((verdict, at) => {
        const name = names[at] as string;
        return [name, reported(verdict, step.expect.limits[name] as VectorStatus)];
      }),
    );
    assert.deepEqual(got, step.expect.limits, where);
    if (step.expect.allowed === undefined) continue;
    assert.equal(outcome.allowed, step.expect.allowed, `${where}: allowed`);
    assert.equal(finite(longestWait(outcome, charges)), step.expect.retryAfterMs, `${where}: retryAfterMs`);
  }
}

function adjustment(op: VectorStep['op'], charge: Charge, verdict: Verdict, part: number): Adjustment[] {
  const { ledger, rule, cost: charged } = charge;
  const common = { ledger, rule, mark: verdict.mark, charged };
  if (op === 'refund') return [{ ...common, change: 'give-back', amount: part }];
  if (part === charged) return [];
  if (part < charged) return [{ ...common, change: 'give-back', amount: charged - part }];
  return [{ ...common, change: 'charge', amount: part - charged }];
}

export const vectors: Group = {
  name: 'vectors',
  checks: readVectors().map(
    (vector): Check => ({
      title: `golden ${vector.name}`,
      needs: ['turned-clock'],
      run: (bench) => play(bench, vector),
    }),
  ),
};
