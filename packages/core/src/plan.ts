/** A limiter's limits, compiled once: which axes, which rule for which tier, what is held back from whom. */
import { ceilDiv, floorDiv } from './algorithms/time.js';
import { LimiterError, shown } from './errors.js';
import type { Amount, Limit, LimitData, Mode } from './limit.js';
import { checkAmount, checkCapacity } from './limit-checks.js';
import { checkName } from './names.js';
import { ReceiptEntries } from './receipt-text.js';
import { type Rule, ruleGrid, ruleLimit } from './rule.js';
import { scaleRule } from './scale.js';

/** The numbers of one limit for one call. */
export interface Resolved {
  /** undefined: unlimited. */
  readonly rule: Rule | undefined;
  readonly limit: Amount;
  readonly grid: string;
  /** Writes what receipts say of this limit under this rule. */
  readonly receipts: ReceiptEntries | undefined;
}

export interface PlannedLimit {
  readonly name: string;
  readonly axes: readonly string[];
  readonly mode: Mode;
  readonly ledgerName: string;
  readonly data: LimitData;
  readonly plain: Resolved | undefined;
  readonly byTier: ReadonlyMap<string, Resolved>;
}

export interface Plan {
  readonly limits: readonly PlannedLimit[];
  readonly axes: readonly string[];
  /** The tiers that every limit with tiers names. */
  readonly tiers: readonly string[];
  readonly hasTiers: boolean;
  readonly priorities: ReadonlySet<string>;
  /** Every limit is divided by this (memoryStore's `instances`). */
  readonly instances: number;
}

/** Checks a limiter's name and limits and compiles them. @throws LimiterError at construction, for every mistake it can see */
export function compilePlan(limiter: string, limits: Record<string, Limit>, instances: number): Plan {
  checkName(limiter, 'name');
  if (typeof limits !== 'object' || limits === null || Object.keys(limits).length === 0) {
    throw new LimiterError('ERR_LIMITER_LIMITS', `limits must be a record of at least one limit, got ${shown(limits)}`);
  }
  const planned = Object.entries(limits).map(([name, limit]) => planLimit(limiter, name, limit, instances));
  const shared = planned.map((limit) => limit.ledgerName);
  const twice = shared.find((name, index) => shared.indexOf(name) !== index);
  if (twice !== undefined) {
    throw new LimiterError(
      'ERR_LIMITER_DUPLICATE_LEDGER',
      `ledger must differ between the limits of one limiter, got ${shown(twice)} twice`,
    );
  }
  const tiered = planned.filter((limit) => limit.data.tiers.length > 0);
  const tiers = (tiered[0]?.data.tiers ?? []).filter((tier) => tiered.every((limit) => limit.byTier.has(tier)));
  if (tiered.length > 0 && tiers.length === 0) {
    throw new LimiterError(
      'ERR_LIMITER_TIERS',
      `limits with tiers must have a tier in common, got ${shown(tiered.map((limit) => limit.name))} without one`,
    );
  }
  return {
    limits: planned,
    axes: [...new Set(planned.flatMap((limit) => limit.axes))],
    tiers,
    hasTiers: tiered.length > 0,
    priorities: new Set(['normal', ...planned.flatMap((limit) => limit.data.priorities)]),
    instances,
  };
}

function planLimit(limiter: string, name: string, limit: Limit, instances: number): PlannedLimit {
  checkName(name, 'a limit');
  const data = limit as LimitData;
  if (typeof data !== 'object' || data === null || typeof data.byTier !== 'object') {
    throw new LimiterError(
      'ERR_LIMITER_LIMITS',
      `limits.${name} must be made by fixedWindow(), slidingWindowLog() or tokenBucket(), got ${shown(limit)}`,
    );
  }
  // A shared name holds no "/", so it cannot meet a limiter's own.
  const ledgerName = data.ledger ?? `${limiter}/${name}`;
  const resolve = (rule: Rule | 'unlimited'): Resolved => resolved(name, ledgerName, divided(rule, instances, name));
  return {
    name,
    axes: data.axes,
    mode: data.mode,
    ledgerName,
    data,
    plain: data.plain === undefined ? undefined : resolve(data.plain),
    byTier: new Map(Object.entries(data.byTier).map(([tier, rule]) => [tier, resolve(rule)])),
  };
}

const UNLIMITED: Resolved = { rule: undefined, limit: 'unlimited', grid: '', receipts: undefined };

function resolved(name: string, ledgerName: string, rule: Rule | 'unlimited'): Resolved {
  if (rule === 'unlimited') return UNLIMITED;
  const receipts = new ReceiptEntries(name, ledgerName, rule);
  return { rule, limit: ruleLimit(rule), grid: ruleGrid(rule), receipts };
}

function divided(rule: Rule | 'unlimited', instances: number, name: string): Rule | 'unlimited' {
  if (rule === 'unlimited' || instances === 1) return rule;
  const share = scaleRule(rule, 1, instances);
  if (ruleLimit(share) === 0 && ruleLimit(rule) > 0) {
    throw new LimiterError(
      'ERR_LIMITER_NUMBER',
      `limits.${name} must be at least 1 for each of ${instances} instances, got ${ruleLimit(rule)} in all`,
    );
  }
  return share;
}

/** The numbers of a limit for this tier and, if given, this call's own amount. */
export function resolveLimit(plan: Plan, limit: PlannedLimit, tier: string | undefined, own: unknown): Resolved {
  const base = limit.plain ?? (limit.byTier.get(tier as string) as Resolved);
  if (own === undefined) return base;
  const amount = checkAmount(own, `limits.${limit.name}`);
  if (amount === 'unlimited') return UNLIMITED;
  const whole = limit.plain === undefined ? limit.data.byTier[tier as string] : limit.data.plain;
  const rule =
    whole === 'unlimited' || whole === undefined ? ruleFromTiers(limit, amount) : withAmount(whole, amount, limit.name);
  return resolved(limit.name, limit.ledgerName, divided(rule, plan.instances, limit.name));
}

function withAmount(rule: Rule, amount: number, name: string): Rule {
  if (rule.algorithm !== 'token-bucket') return { ...rule, limit: amount };
  return { ...rule, capacity: checkCapacity(amount, rule.refillMs, `limits.${name}`) };
}

/** An own number for a customer whose tier is unlimited: window and refill of the first tier that has them. */
function ruleFromTiers(limit: PlannedLimit, amount: number): Rule {
  const other = Object.values(limit.data.byTier).find((rule) => rule !== 'unlimited');
  if (other === undefined) {
    throw new LimiterError(
      'ERR_LIMITER_NUMBER',
      `limits.${limit.name} must be "unlimited": this limit has no window to count ${amount} in`,
    );
  }
  return withAmount(other, amount, limit.name);
}

/** Units of `limit` held back from `priority`, rounded up. */
export function heldBack(limit: PlannedLimit, resolved: Resolved, priority: string): number {
  const held = Object.hasOwn(limit.data.reserve, priority) ? limit.data.reserve[priority] : undefined;
  if (held === undefined || resolved.limit === 'unlimited') return 0;
  if (typeof held === 'number') return held;
  const percent = Number.parseInt(held, 10);
  const hundreds = floorDiv(resolved.limit, 100);
  // ceil(limit * percent / 100) without a product that could pass 2^53.
  return hundreds * percent + ceilDiv((resolved.limit - hundreds * 100) * percent, 100);
}
