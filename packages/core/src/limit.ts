/** fixedWindow(), slidingWindowLog(), tokenBucket(): one budget each, as frozen and validated plain data. */
import { type Duration, parseDuration, type Rate } from './duration.js';
import { LimiterError, shown } from './errors.js';
import {
  axesOf,
  checkAmount,
  checkCapacity,
  checkMode,
  checkOptions,
  checkReserve,
  isPlainRefill,
  named,
  pick,
  refillOf,
  sameTiers,
  tiersOf,
} from './limit-checks.js';
import { checkName } from './names.js';
import type { AlgorithmName, Rule } from './rule.js';

/** A number of units, or no limit at all: `unlimited` is not asked and is reported as such. */
export type Amount = number | 'unlimited';
/** `shadow`: asked and charged like any other, but never refuses. */
export type Mode = 'enforce' | 'shadow';
/** One value, or one for each tier. */
export type ByTier<V> = V | { readonly [tier: string]: V };
type Keys<Q> = Q extends object ? Extract<keyof Q, string> : never;

/** Tokens per time: `'120/1m'`, `{ tokens, per }`, or a rate for each tier. */
export type Refill = Rate | { readonly tokens: number; readonly per: Duration } | { readonly [tier: string]: Rate };
type RefillTiers<F> = F extends { readonly tokens: number } ? never : Keys<F>;
/** Both in tiers: then the same tiers. */
type SameTiers<C extends string, F extends string> = [C] extends [never]
  ? unknown
  : [F] extends [never]
    ? unknown
    : { readonly [K in C | F]: Rate };

/** Units or whole per cent of a limit, held back from calls of a priority. */
export interface Reserve {
  readonly [priority: string]: number | `${bigint}%`;
}

/** One budget. `A`: its axes, `T`: its tiers, `P`: its priorities. Made by one of the three functions below. */
export interface Limit<out A extends string = string, out T extends string = string, out P extends string = string> {
  readonly algorithm: AlgorithmName;
  readonly axes: readonly A[];
  readonly tiers: readonly T[];
  readonly priorities: readonly P[];
}

/** What a Limit holds besides its types; the limiter reads it. */
export interface LimitData extends Limit {
  readonly mode: Mode;
  readonly ledger: string | undefined;
  readonly reserve: Reserve;
  /** The rule without tiers, or undefined when there are some. */
  readonly plain: Rule | 'unlimited' | undefined;
  readonly byTier: Readonly<Record<string, Rule | 'unlimited'>>;
}

export interface LimitOptions<A extends string, R extends Reserve> {
  /** The axis, or several, whose values name the ledger; `'*'`: one ledger for everybody. Default: the axis `subject`. */
  readonly by?: A | readonly [A, ...A[]];
  /** Default `enforce`. */
  readonly mode?: Mode;
  /** A name that replaces limiter and limit in the key, so that several limiters share one budget on purpose. */
  readonly ledger?: string;
  /** What is held back from each priority: `{ low: '50%', normal: 20 }`. Rounded up. */
  readonly reserve?: R;
}

export interface WindowOptions<A extends string, Q extends ByTier<Amount>, R extends Reserve>
  extends LimitOptions<A, R> {
  /** Whole cost in a window, 0 .. 2^53-1, or 'unlimited'; or one for each tier. */
  readonly limit: Q;
  readonly window: Duration;
}

export interface FixedWindowOptions<A extends string, Q extends ByTier<Amount>, R extends Reserve>
  extends WindowOptions<A, Q, R> {
  /** `clock` (default): windows start at multiples of `window` since the epoch. `first-request`: at the first admitted charge. */
  readonly align?: 'clock' | 'first-request';
  /** Shifts the grid of `align: 'clock'`: `window: '1d', offset: '5h'` starts the day at 05:00 UTC. Shorter than the window. */
  readonly offset?: Duration;
}

export interface TokenBucketOptions<A extends string, Q extends ByTier<Amount>, F extends Refill, R extends Reserve>
  extends LimitOptions<A, R> {
  /** Whole tokens, 0 .. 2^53-1, or 'unlimited'; or one for each tier. capacity x refill period (ms) <= 2^53-1. */
  readonly capacity: Q;
  readonly refill: F & SameTiers<Keys<Q>, RefillTiers<F>>;
}

const LIMIT_OPTIONS = ['by', 'mode', 'ledger', 'reserve'];

/**
 * At most `limit` cost in each window. Bound: `limit` a window, up to 2 x `limit` in an interval across a boundary.
 *
 * @throws LimiterError ERR_LIMITER_NUMBER, _DURATION, _NAME, _TIERS, _OPTION: at construction, with the value and the rule
 * @example fixedWindow({ by: 'org', limit: 50_000, window: '1d' })
 */
export function fixedWindow<
  const Q extends ByTier<Amount>,
  const A extends string = 'subject',
  const R extends Reserve = {},
>(options: FixedWindowOptions<A, Q, R>): Limit<NoInfer<Exclude<A, '*'>>, NoInfer<Keys<Q>>, NoInfer<Keys<R>>> {
  checkOptions(options, [...LIMIT_OPTIONS, 'limit', 'window', 'align', 'offset'], 'fixedWindow');
  const windowMs = parseDuration(options.window, 'window');
  const align = options.align ?? 'clock';
  if (align !== 'clock' && align !== 'first-request') {
    throw new LimiterError('ERR_LIMITER_OPTION', `align must be "clock" or "first-request", got ${shown(align)}`);
  }
  const offsetMs = options.offset === undefined ? 0 : parseDuration(options.offset, 'offset');
  if (offsetMs >= windowMs) {
    throw new LimiterError(
      'ERR_LIMITER_DURATION',
      `offset must be shorter than the window, got ${shown(options.offset)} in ${options.window}`,
    );
  }
  if (offsetMs > 0 && align === 'first-request') {
    throw new LimiterError(
      'ERR_LIMITER_OPTION',
      'offset shifts the grid of align: "clock"; a window aligned to the first request has none',
    );
  }
  return define('fixed-window', options, tiersOf(options.limit, 'limit'), (tier) => {
    const limit = checkAmount(pick(options.limit, tier), named('limit', tier));
    return limit === 'unlimited' ? limit : { algorithm: 'fixed-window', limit, windowMs, align, offsetMs };
  });
}

/**
 * At most `limit` cost in any interval of the window's length: exact at every instant, one stored entry per call.
 *
 * @throws LimiterError as fixedWindow
 * @example slidingWindowLog({ by: 'org', limit: { free: 200, pro: 2_000 }, window: '1m' })
 */
export function slidingWindowLog<
  const Q extends ByTier<Amount>,
  const A extends string = 'subject',
  const R extends Reserve = {},
>(options: WindowOptions<A, Q, R>): Limit<NoInfer<Exclude<A, '*'>>, NoInfer<Keys<Q>>, NoInfer<Keys<R>>> {
  checkOptions(options, [...LIMIT_OPTIONS, 'limit', 'window'], 'slidingWindowLog');
  const windowMs = parseDuration(options.window, 'window');
  return define('sliding-window-log', options, tiersOf(options.limit, 'limit'), (tier) => {
    const limit = checkAmount(pick(options.limit, tier), named('limit', tier));
    return limit === 'unlimited' ? limit : { algorithm: 'sliding-window-log', limit, windowMs };
  });
}

/**
 * `capacity` tokens, refilled continuously. Bound in any interval: capacity + elapsed x refill.
 *
 * @throws LimiterError as fixedWindow; ERR_LIMITER_TIERS when tiers refill over different periods (then changing plans would farm)
 * @example tokenBucket({ by: 'device', capacity: 120, refill: '120/1m' })
 */
export function tokenBucket<
  const Q extends ByTier<Amount>,
  const F extends Refill,
  const A extends string = 'subject',
  const R extends Reserve = {},
>(
  options: TokenBucketOptions<A, Q, F, R>,
): Limit<NoInfer<Exclude<A, '*'>>, NoInfer<Keys<Q> | RefillTiers<F>>, NoInfer<Keys<R>>> {
  checkOptions(options, [...LIMIT_OPTIONS, 'capacity', 'refill'], 'tokenBucket');
  const refill: Refill = options.refill;
  const tiers = sameTiers(
    tiersOf(options.capacity, 'capacity'),
    isPlainRefill(refill) ? [] : tiersOf(refill, 'refill'),
  );
  const periods = new Set<number>();
  const limit = define('token-bucket', options, tiers, (tier) => {
    const { tokens, perMs } = refillOf(refill, tier);
    periods.add(perMs);
    const capacity = checkAmount(pick(options.capacity, tier), named('capacity', tier));
    if (capacity === 'unlimited') return capacity;
    return {
      algorithm: 'token-bucket',
      capacity: checkCapacity(capacity, perMs, named('capacity', tier)),
      refillTokens: tokens,
      refillMs: perMs,
    };
  });
  if (periods.size > 1) {
    throw new LimiterError(
      'ERR_LIMITER_TIERS',
      `refill must have the same period in every tier (usage is kept when a customer changes tier), got ${shown(Object.values(refill))}`,
    );
  }
  return limit as never;
}

function define(
  algorithm: AlgorithmName,
  options: LimitOptions<string, Reserve>,
  tiers: readonly string[],
  ruleOf: (tier: string | undefined) => Rule | 'unlimited',
): never {
  const { mode = 'enforce', ledger, reserve = {} } = options;
  checkMode(mode);
  const frozenRule = (tier: string | undefined): Rule | 'unlimited' => {
    const rule = ruleOf(tier);
    return typeof rule === 'string' ? rule : Object.freeze(rule);
  };
  const data: LimitData = {
    algorithm,
    axes: Object.freeze(axesOf(options.by)),
    tiers: Object.freeze([...tiers]),
    priorities: Object.freeze(Object.keys(reserve)),
    mode,
    ledger: ledger === undefined ? undefined : checkName(ledger, 'ledger'),
    reserve: Object.freeze(checkReserve(reserve)),
    plain: tiers.length === 0 ? frozenRule(undefined) : undefined,
    byTier: Object.freeze(Object.fromEntries(tiers.map((tier) => [tier, frozenRule(tier)]))),
  };
  // The type arguments say nothing at run time; each caller states them.
  return Object.freeze(data) as never;
}
