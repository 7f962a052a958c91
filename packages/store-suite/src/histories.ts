/** Random histories as data: rules, and moves that are resolved against what the store said last. */
import type { Rule } from '@limiter/core';
import fc from 'fast-check';

const MAX = Number.MAX_SAFE_INTEGER;
const LONGEST_MS = 2 ** 42;

/** Which rules a history is about. */
export type RuleKind = 'clock-window' | 'first-request-window' | 'log' | 'bucket';
export const RULE_KINDS: readonly RuleKind[] = ['clock-window', 'first-request-window', 'log', 'bucket'];

/**
 * How large the numbers are: everyday ones; ones near 2^53-1; windows so short that a real clock can wait for them; or
 * limits so high that hundreds of charges count at the same time.
 */
export type Scale = 'small' | 'large' | 'short' | 'deep';

const WINDOWS: Record<Scale, readonly number[]> = {
  small: [1, 7, 1_000, 2_500, 60_000, 86_400_000],
  large: [1, 60_000, LONGEST_MS - 1, LONGEST_MS],
  short: [1, 7, 20, 40],
  deep: [5_000, 60_000],
};

function amount(scale: Scale): fc.Arbitrary<number> {
  if (scale === 'deep') return fc.integer({ min: 200, max: 2_000 });
  if (scale === 'large') {
    return fc.oneof(fc.constantFrom(MAX, MAX - 1, 2 ** 52, 2 ** 52 + 1, 2 ** 31), fc.integer({ min: 0, max: MAX }));
  }
  return fc.oneof(
    { arbitrary: fc.integer({ min: 2, max: 12 }), weight: 9 },
    { arbitrary: fc.nat({ max: 1 }), weight: 1 },
  );
}

function windowRule(scale: Scale, align: 'clock' | 'first-request'): fc.Arbitrary<Rule> {
  return fc
    .record({ limit: amount(scale), windowMs: fc.constantFrom(...WINDOWS[scale]), part: fc.nat({ max: 7 }) })
    .map(
      ({ limit, windowMs, part }): Rule => ({
        algorithm: 'fixed-window',
        limit,
        windowMs,
        align,
        // Half of the grids begin at the epoch, the others an odd part of a window later.
        offsetMs: align === 'clock' && part > 3 ? Math.floor((windowMs - 1) / (part - 2)) : 0,
      }),
    );
}

function bucketRule(scale: Scale): fc.Arbitrary<Rule> {
  const refillMs = fc.constantFrom(...WINDOWS[scale], 3, 1_000 / 8);
  const refillTokens = scale === 'large' ? fc.integer({ min: 1, max: MAX }) : fc.integer({ min: 1, max: 7 });
  return fc.record({ capacity: amount(scale), refillTokens, refillMs, few: fc.boolean() }).map(
    ({ capacity, refillTokens, refillMs, few }): Rule => ({
      algorithm: 'token-bucket',
      capacity: Math.min(capacity, Math.floor(MAX / refillMs)),
      refillTokens: few ? Math.min(refillTokens, 3) : refillTokens,
      refillMs,
    }),
  );
}

export function ruleOf(kind: RuleKind, scale: Scale): fc.Arbitrary<Rule> {
  switch (kind) {
    case 'clock-window':
      return windowRule(scale, 'clock');
    case 'first-request-window':
      return windowRule(scale, 'first-request');
    case 'log':
      return fc
        .record({ limit: amount(scale), windowMs: fc.constantFrom(...WINDOWS[scale]) })
        .map(({ limit, windowMs }): Rule => ({ algorithm: 'sliding-window-log', limit, windowMs }));
    case 'bucket':
      return bucketRule(scale);
  }
}

/** The same limit with other numbers; mostly on the same grid, so that what was used stays. */
function changed(rule: Rule, scale: Scale, keepRefill: boolean): fc.Arbitrary<Rule> {
  return fc
    .record({ most: amount(scale), refillTokens: fc.integer({ min: 1, max: 7 }), regrid: fc.nat({ max: 4 }) })
    .map(({ most, refillTokens, regrid }): Rule => {
      if (rule.algorithm !== 'token-bucket')
        return { ...rule, limit: most, windowMs: rule.windowMs + (regrid === 0 ? 1 : 0) };
      const refillMs = rule.refillMs + (regrid === 0 ? 1 : 0);
      const capacity = Math.min(most, Math.floor(MAX / refillMs));
      return { ...rule, capacity, refillMs, refillTokens: keepRefill ? rule.refillTokens : refillTokens };
    });
}

/** A cost: a plain number, the limit less a little, or what was reported as remaining plus or minus one. */
export type CostPick =
  | { readonly kind: 'plain'; readonly cost: number }
  | { readonly kind: 'of-limit'; readonly less: number }
  | { readonly kind: 'of-remaining'; readonly more: number };

/** A step in time: a plain one, to where an answer pointed (or 1 ms beside it), or back. */
export type TimePick =
  | { readonly kind: 'plain'; readonly ms: number }
  | { readonly kind: 'part'; readonly quarters: number }
  | { readonly kind: 'told'; readonly wait: Wait; readonly plus: number }
  | { readonly kind: 'back'; readonly ms: number };

export type Move =
  | {
      readonly op: 'ask';
      readonly consume: boolean;
      readonly subject: number;
      readonly costs: readonly CostPick[];
      /** Eighths of the limit that are held back. */
      readonly heldBack: number;
    }
  | { readonly op: 'time'; readonly pick: TimePick }
  | { readonly op: 'give-back'; readonly which: number; readonly less: number }
  | { readonly op: 'charge'; readonly which: number; readonly more: number }
  | { readonly op: 'set'; readonly variant: number }
  | { readonly op: 'reset'; readonly subject: number };

export interface History {
  /** The limits, then what they are changed to. */
  readonly variants: readonly (readonly Rule[])[];
  readonly enforce: readonly boolean[];
  readonly start: number;
  /** How many questions travel in one `run` at most. */
  readonly batch: number;
  readonly moves: readonly Move[];
}

export interface HistoryShape {
  readonly kinds: readonly RuleKind[];
  readonly limits: number;
  readonly scale?: Scale;
  readonly back?: boolean;
  readonly change?: boolean;
  /** Changed limits refill as before: a ledger that a faster rule wrote may be forgotten sooner than a slower one says. */
  readonly keepRefill?: boolean;
  readonly adjust?: boolean;
  readonly batch?: number;
  readonly length?: number;
}

const plainCost: fc.Arbitrary<CostPick> = fc.record({ kind: fc.constant('plain'), cost: fc.nat({ max: 5 }) });
const boundaryCost: fc.Arbitrary<CostPick> = fc.oneof(
  fc.record({ kind: fc.constant('of-limit' as const), less: fc.constantFrom(-1, 0, 0, 1, 1, 2, 3, 4) }),
  {
    arbitrary: fc.record({ kind: fc.constant('of-remaining' as const), more: fc.integer({ min: -1, max: 1 }) }),
    weight: 2,
  },
);

/** Costs at the boundary are what goes wrong; where hundreds of charges are to meet, one of them uses everything up. */
function cost(scale: Scale | undefined): fc.Arbitrary<CostPick> {
  const weight = scale === 'deep' ? 50 : 1;
  return fc.oneof({ arbitrary: plainCost, weight }, { arbitrary: boundaryCost, weight: 1 });
}

type Wait = 'retryAfterMs' | 'moreAfterMs' | 'resetAfterMs';

/** To where the last answer pointed, or 1 ms beside it. */
const told = (...waits: readonly [Wait, ...Wait[]]): fc.Arbitrary<TimePick> =>
  fc.record({
    kind: fc.constant('told' as const),
    wait: fc.constantFrom(...waits),
    plus: fc.integer({ min: -1, max: 1 }),
  });

const back: fc.Arbitrary<TimePick> = fc.record({
  kind: fc.constant('back' as const),
  ms: fc.oneof(fc.constantFrom(1, 5, 500, 1_999, 2_000, 2_001, 2_002, 3_600_000), fc.integer({ min: 1, max: 4_000 })),
});

/** The longest plain step in time, ms. */
const STEPS: Record<Scale, number> = { small: 1_500, large: 1_500, short: 12, deep: 60 };

function time(shape: HistoryShape): fc.Arbitrary<Move> {
  const plain = fc.record({ kind: fc.constant('plain' as const), ms: fc.nat({ max: STEPS[shape.scale ?? 'small'] }) });
  // Long steps would empty a deep log each time.
  if (shape.scale === 'deep') {
    const near = told('retryAfterMs', 'moreAfterMs');
    const rare = shape.back ? fc.oneof(near, back) : near;
    const pick = fc.oneof({ arbitrary: plain, weight: 30 }, { arbitrary: rare, weight: 1 });
    return fc.record({ op: fc.constant('time' as const), pick });
  }
  const forward: fc.Arbitrary<TimePick> = fc.oneof(
    plain,
    fc.record({ kind: fc.constant('part' as const), quarters: fc.integer({ min: 1, max: 5 }) }),
    told('retryAfterMs', 'resetAfterMs', 'moreAfterMs'),
  );
  return fc.record({ op: fc.constant('time' as const), pick: shape.back ? fc.oneof(forward, back) : forward });
}

function move(shape: HistoryShape): fc.Arbitrary<Move> {
  const deep = shape.scale === 'deep';
  const which = fc.nat({ max: deep ? 300 : 6 });
  const subject = fc.nat({ max: deep ? 0 : 1 });
  const ask = fc.record({
    op: fc.constant('ask' as const),
    consume: fc.nat({ max: 4 }).map((n) => n > 0),
    subject,
    costs: fc.array(cost(shape.scale), { minLength: shape.limits, maxLength: shape.limits }),
    heldBack: fc.oneof(
      { arbitrary: fc.constant(0), weight: 3 },
      { arbitrary: fc.constantFrom(1, 1, 2, 3, 5, 8, 9), weight: 1 },
    ),
  });
  const moves: { arbitrary: fc.Arbitrary<Move>; weight: number }[] = [
    { arbitrary: ask, weight: 10 },
    { arbitrary: time(shape), weight: 5 },
    {
      arbitrary: fc.record({ op: fc.constant('reset' as const), subject }),
      weight: shape.adjust || shape.change ? 1 : 0,
    },
  ];
  if (shape.adjust) {
    const less = fc.integer({ min: -2, max: 4 });
    moves.push({ arbitrary: fc.record({ op: fc.constant('give-back' as const), which, less }), weight: 4 });
    moves.push({
      arbitrary: fc.record({ op: fc.constant('charge' as const), which, more: fc.nat({ max: 30 }) }),
      weight: 2,
    });
  }
  if (shape.change) {
    moves.push({ arbitrary: fc.record({ op: fc.constant('set' as const), variant: fc.nat({ max: 3 }) }), weight: 2 });
  }
  return fc.oneof(...moves.filter(({ weight }) => weight > 0));
}

/** Random histories of a shape. */
export function histories(shape: HistoryShape): fc.Arbitrary<History> {
  const scale = shape.scale ?? 'small';
  const rule = fc.constantFrom(...shape.kinds).chain((kind) => ruleOf(kind, scale));
  const rules = fc.array(rule, { minLength: shape.limits, maxLength: shape.limits });
  const variants = shape.change
    ? rules.chain((first) => {
        const other = fc.tuple(
          ...first.map((one) => fc.oneof(fc.constant(one), changed(one, scale, shape.keepRefill === true))),
        );
        return fc.tuple(other, other).map((others): readonly (readonly Rule[])[] => [first, ...others]);
      })
    : rules.map((first): readonly (readonly Rule[])[] => [first]);
  const history = fc.record({
    variants,
    enforce: fc.array(
      fc.nat({ max: 4 }).map((n) => n > 0),
      { minLength: shape.limits, maxLength: shape.limits },
    ),
    start: fc.nat({ max: 90_000_000 }).map((n) => 1_700_000_000_000 + n),
    batch: shape.batch === undefined ? fc.constant(1) : fc.integer({ min: 1, max: shape.batch }),
    moves: fc.array(move(shape), { minLength: 1, maxLength: shape.length ?? 80, size: 'max' }),
  });
  // fast-check favours short lists: few charges would ever meet.
  return fc.noBias(history);
}
