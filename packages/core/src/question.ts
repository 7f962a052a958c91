/** A call turned into a step: who asks, at what cost, by which numbers; checked before anything is charged. */
import { MAX } from './algorithms/time.js';
import { LimiterError, shown } from './errors.js';
import { checkKnown } from './limit-checks.js';
import { ownValue } from './own-value.js';
import { heldBack, type Plan, type Resolved, resolveLimit } from './plan.js';
import type { AskStep, Charge, Failure, Ledger } from './store.js';
import { axisValues, type Checked, checkSubject } from './subject.js';

/** The options of a call as they arrive: anything, until checked. */
export interface CallOptions {
  readonly cost?: unknown;
  readonly tier?: unknown;
  readonly priority?: unknown;
  readonly limits?: unknown;
  readonly onStoreFailure?: Failure | undefined;
}

/** What was asked of one limit. */
export interface Asked {
  readonly resolved: Resolved;
  readonly cost: number;
  readonly heldBack: number;
  /** undefined: skipped. */
  readonly values: readonly string[] | undefined;
  /** Index into the step's charges; -1 when the store is not asked (skipped or unlimited). */
  readonly charge: number;
}

export interface Question {
  readonly step: AskStep;
  /** In the order of the plan's limits. */
  readonly asked: readonly Asked[];
  readonly tier: string | undefined;
}

const INSPECT_OPTIONS = ['tier', 'priority', 'limits', 'onStoreFailure'];
const CALL_OPTIONS = ['cost', ...INSPECT_OPTIONS];
const NO_OPTIONS: CallOptions = Object.freeze(Object.create(null));

/** What stays the same for a limiter: its plan and where its ledgers are placed. */
export interface Asker {
  readonly plan: Plan;
  readonly hashTag: string | undefined;
  readonly checkFailure: (word: unknown) => Failure | undefined;
}

/**
 * @param inspect a peek at cost 0, which takes no cost.
 * @throws LimiterError ERR_LIMITER_SUBJECT, _COST, _TIER, _PRIORITY, _UNKNOWN_LIMIT, _NUMBER, _OPTION, _FAILURE_POLICY
 */
export function ask(
  asker: Asker,
  op: 'consume' | 'peek',
  subject: unknown,
  given: CallOptions | undefined,
  inspect: boolean,
): Question {
  const { plan, hashTag } = asker;
  const options = given ?? NO_OPTIONS;
  const who = checkSubject(plan.axes, subject);
  if (given !== undefined) checkCallOptions(options, inspect);
  const tier = checkTier(plan, options.tier);
  const priority = checkPriority(plan, options.priority);
  const own = options.limits === undefined ? undefined : checkRecord(plan, options.limits, 'limits');
  const costs = inspect ? 0 : checkCosts(plan, options.cost);
  const slot = hashTag === undefined ? undefined : slotOf(who, hashTag);
  const charges: Charge[] = [];
  const asked: Asked[] = [];
  for (const limit of plan.limits) {
    const resolved = resolveLimit(plan, limit, tier, own === undefined ? undefined : ownValue(own, limit.name));
    const cost = typeof costs === 'number' ? costs : (costs[limit.name] as number);
    const values = axisValues(limit, who);
    const holdBack = heldBack(limit, resolved, priority);
    const { rule } = resolved;
    if (values === undefined || rule === undefined) {
      asked.push({ resolved, cost, heldBack: holdBack, values, charge: -1 });
      continue;
    }
    const ledger: Ledger = {
      name: limit.ledgerName,
      grid: resolved.grid,
      values,
      slot: values.length === 0 ? undefined : slot,
    };
    asked.push({ resolved, cost, heldBack: holdBack, values, charge: charges.length });
    charges.push({ ledger, rule, cost, holdBack, enforce: limit.mode === 'enforce' });
  }
  return { step: { op, charges, onFailure: asker.checkFailure(options.onStoreFailure) }, asked, tier };
}

/** The ledgers of a subject, under every tier's grid, for reset. */
export function ledgersOf(asker: Asker, subject: unknown, only: unknown): Ledger[] {
  const { plan, hashTag } = asker;
  const who = checkSubject(plan.axes, subject);
  if (only !== undefined && !Array.isArray(only))
    throw new LimiterError('ERR_LIMITER_OPTION', `limits must be a list of limit names, got ${shown(only)}`);
  const chosen = only === undefined ? plan.limits : (only as unknown[]).map((name) => knownLimit(plan, name, 'limits'));
  const slot = hashTag === undefined ? undefined : slotOf(who, hashTag);
  const ledgers: Ledger[] = [];
  for (const limit of chosen) {
    const values = axisValues(limit, who);
    if (values === undefined) continue;
    const grids = new Set(
      [limit.plain, ...limit.byTier.values()].flatMap((resolved) =>
        resolved?.rule === undefined ? [] : [resolved.grid],
      ),
    );
    for (const grid of grids)
      ledgers.push({ name: limit.ledgerName, grid, values, slot: values.length === 0 ? undefined : slot });
  }
  return ledgers;
}

function slotOf(subject: Checked, hashTag: string): string | undefined {
  return (typeof subject === 'string' ? subject : subject[hashTag]) ?? undefined;
}

function checkCallOptions(options: unknown, inspect: boolean): void {
  if (typeof options !== 'object' || options === null) {
    throw new LimiterError('ERR_LIMITER_OPTION', `the options of a call must be an object, got ${shown(options)}`);
  }
  checkKnown(options, inspect ? INSPECT_OPTIONS : CALL_OPTIONS, 'a call');
}

function checkTier(plan: Plan, tier: unknown): string | undefined {
  if (!plan.hasTiers) {
    if (tier === undefined) return undefined;
    throw new LimiterError('ERR_LIMITER_TIER', `tier must be left out where no limit has tiers, got ${shown(tier)}`);
  }
  if (typeof tier !== 'string' || !plan.tiers.includes(tier)) {
    throw new LimiterError('ERR_LIMITER_TIER', `tier must be one of ${plan.tiers.join(', ')}, got ${shown(tier)}`);
  }
  return tier;
}

function checkPriority(plan: Plan, priority: unknown): string {
  if (priority === undefined) return 'normal';
  if (typeof priority !== 'string' || !plan.priorities.has(priority)) {
    throw new LimiterError(
      'ERR_LIMITER_PRIORITY',
      `priority must be one of ${[...plan.priorities].join(', ')}, got ${shown(priority)}`,
    );
  }
  return priority;
}

/** One cost: a whole number, 0 .. 2^53-1. @throws LimiterError ERR_LIMITER_COST */
export function checkCost(cost: unknown, what: string): number {
  if (typeof cost !== 'number' || !Number.isInteger(cost) || cost < 0 || cost > MAX || Object.is(cost, -0)) {
    throw new LimiterError('ERR_LIMITER_COST', `${what} must be a whole number from 0 to 2^53-1, got ${shown(cost)}`);
  }
  return cost;
}

function checkCosts(plan: Plan, cost: unknown): number | Record<string, number> {
  if (cost === undefined) return 1;
  if (typeof cost !== 'object' || cost === null) return checkCost(cost, 'cost');
  checkRecord(plan, cost, 'cost');
  const costs: Record<string, number> = {};
  for (const limit of plan.limits) costs[limit.name] = checkCost(ownValue(cost, limit.name), `cost.${limit.name}`);
  return costs;
}

/** A record whose names are limits of this plan. */
function checkRecord(plan: Plan, record: unknown, what: string): object {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) {
    throw new LimiterError('ERR_LIMITER_OPTION', `${what} must be a record of limit names, got ${shown(record)}`);
  }
  for (const name of Object.keys(record)) knownLimit(plan, name, what);
  return record;
}

function knownLimit(plan: Plan, name: unknown, what: string): Plan['limits'][number] {
  const limit = plan.limits.find((candidate) => candidate.name === name);
  if (limit === undefined) {
    const known = plan.limits.map((candidate) => candidate.name).join(', ');
    throw new LimiterError(
      'ERR_LIMITER_UNKNOWN_LIMIT',
      `${what} must name limits of this limiter (${known}), got ${shown(name)}`,
    );
  }
  return limit;
}
