/** The types of a limiter: what a call must name, and what it may. Names flow from the limits, so that a misspelt one does not compile. */
import type { Decision } from './decision.js';
import type { Duration } from './duration.js';
import type { StoreEvent } from './failure/events.js';
import type { FallbackOptions } from './failure/fallback.js';
import type { Amount, Limit, Mode } from './limit.js';
import type { Failure, FaultOutcome, Store, SyncStore } from './store.js';

/** What a limiter knows by name. `Limiter` without an argument is any limiter. */
export interface Names {
  axes: string;
  limits: string;
  tiers: string;
  priorities: string;
  failures: Failure;
}

/**
 * Who is asking: a string when `subject` is the only axis; else a record of the axes, each a string, or null for "does not
 * apply to this call" (limits by that axis are skipped and say so); `{}` when every limit is `'*'`.
 */
export type Subject<A extends string> = [A] extends [never]
  ? { readonly [axis: string]: never }
  : string extends A
    ? string | { readonly [axis: string]: string | null }
    : [A] extends ['subject']
      ? string
      : { readonly [K in A]: string | null };

/** One number for every limit, or a record that names every limit. Whole, 0 .. 2^53-1; 0 charges nothing. */
export type Cost<L extends string> = number | { readonly [K in L]: number };

/** Required when the limits have tiers. */
export type TierOption<T extends string> = [T] extends [never]
  ? unknown
  : string extends T
    ? { readonly tier?: string }
    : { readonly tier: T };

/** What `inspect` takes. */
export type Judged<N extends Names> = {
  /** Default `normal`. */
  readonly priority?: N['priorities'] | 'normal';
  /** This customer's own numbers for this call: limit or capacity; the refill stays. Usage is kept. */
  readonly limits?: { readonly [K in N['limits']]?: Amount };
  readonly onStoreFailure?: N['failures'];
} & TierOption<N['tiers']>;

/** What `consume` and `peek` take. */
export type Call<N extends Names> = {
  /** Default 1. */
  readonly cost?: Cost<N['limits']>;
} & Judged<N>;

/** Trailing options, required when there is a tier to name. */
export type Args<N extends Names, O> = [N['tiers']] extends [never]
  ? [options?: O]
  : string extends N['tiers']
    ? [options?: O]
    : [options: O];

/** What a refund or settle did. */
export interface Adjustments<L extends string> {
  /** The receipt was closed before; nothing was done. */
  readonly closed: boolean;
  /** The store did not answer; a receipt that provably was not used stays open. */
  readonly failure: FaultOutcome | undefined;
  /** By limit, whole units: given back, charged on top, and asked for but not charged. */
  readonly limits: {
    readonly [K in L]?: { readonly givenBack: number; readonly charged: number; readonly cut: number };
  };
}

/** The amount of a refund or settle: a whole cost for every limit of the receipt, or one by limit; a limit that is not named is left alone. */
export type Part<L extends string> = number | { readonly [K in L]?: number };

export interface Once {
  /** Where a second use of the receipt is noticed: in this process (default), or everywhere, by a marker in the store. */
  readonly once?: 'process' | 'everywhere';
}

export interface ResetOptions<L extends string> {
  /** Default: all limits. */
  readonly limits?: readonly L[];
}

export interface Limiter<N extends Names = Names> {
  /** Asks every limit; charges all that admit, or none. Rejects only for mistakes and for `onStoreFailure: 'throw'`. */
  consume(subject: Subject<N['axes']>, ...options: Args<N, Call<N>>): Promise<Decision<N['limits'], N['tiers']>>;
  /** What `consume` would say now; charges nothing. */
  peek(subject: Subject<N['axes']>, ...options: Args<N, Call<N>>): Promise<Decision<N['limits'], N['tiers']>>;
  /** The state of every limit: a peek at cost 0. */
  inspect(subject: Subject<N['axes']>, ...options: Args<N, Judged<N>>): Promise<Decision<N['limits'], N['tiers']>>;
  /** Gives back what a consume charged, or `cost` of it: where it was charged, while it counts, at most once. */
  refund(receipt: string, cost?: Part<N['limits']>, options?: Once): Promise<Adjustments<N['limits']>>;
  /** Corrects a charge to its actual cost: gives the difference back, or charges it (nothing refuses; cut at twice the limit). */
  settle(receipt: string, actual: Part<N['limits']>, options?: Once): Promise<Adjustments<N['limits']>>;
  /** Forgets what this subject used: exactly these keys. Rejects with ERR_LIMITER_STORE_FAILURE when the store fails. */
  reset(subject: Subject<N['axes']>, options?: ResetOptions<N['limits']>): Promise<void>;
  /** Later calls are refused with ERR_LIMITER_CLOSED. A limiter holds nothing open; the store stays open (`store.close()`). */
  close(): Promise<void>;
}

/** A limiter whose store can answer at once. */
export interface SyncLimiter<N extends Names = Names> extends Limiter<N> {
  consumeSync(subject: Subject<N['axes']>, ...options: Args<N, Call<N>>): Decision<N['limits'], N['tiers']>;
  peekSync(subject: Subject<N['axes']>, ...options: Args<N, Call<N>>): Decision<N['limits'], N['tiers']>;
  inspectSync(subject: Subject<N['axes']>, ...options: Args<N, Judged<N>>): Decision<N['limits'], N['tiers']>;
  refundSync(receipt: string, cost?: Part<N['limits']>, options?: Once): Adjustments<N['limits']>;
  settleSync(receipt: string, actual: Part<N['limits']>, options?: Once): Adjustments<N['limits']>;
  resetSync(subject: Subject<N['axes']>, options?: ResetOptions<N['limits']>): void;
}

/** What decides in place of a failed store. */
export type Fallback = FallbackOptions;

export type FailureOptions =
  | { readonly onStoreFailure: 'fallback'; readonly fallback: Fallback }
  | { readonly onStoreFailure: Exclude<Failure, 'fallback'>; readonly fallback?: Fallback };

/** A store that cannot fail may leave the question open. */
export interface NoFailure {
  readonly onStoreFailure?: never;
  readonly fallback?: never;
}

/** A store of this process that cannot fail. */
export type NeverFails = { readonly traits: { readonly fails: 'never' } };

export interface LimiterOptions<S extends Store, L> {
  /** Part of every key: two limiters never share by accident. */
  readonly name: string;
  readonly store: S;
  readonly limits: L;
  /** `shadow`: decides and charges as ever, but `allowed` is always true; `wouldBe` has the verdict. */
  readonly mode?: Mode;
  /** How long a decision may take; then the store has failed. Default `'250ms'`. Not for synchronous calls. */
  readonly storeTimeout?: Duration;
  /** Redis Cluster: the axis (the widest owner) whose value places all ledgers of a call in one slot. */
  readonly hashTag?: string;
  /** Store failures, recoveries, late answers. Without it a throttled process warning. */
  readonly onEvent?: (event: StoreEvent) => void;
  /** The time of decisions that no store answered. Default Date.now. */
  readonly clock?: () => number;
}

/** The tiers that every limit with tiers names. */
export type Shared<L extends Record<string, Limit>> = [L[keyof L]['tiers'][number]] extends [never]
  ? never
  : {
        [K in keyof L]: (seen: [L[K]['tiers'][number]] extends [never] ? unknown : L[K]['tiers'][number]) => void;
      }[keyof L] extends (seen: infer T extends string) => void
    ? T
    : never;

export type Made<S extends Store, N extends Names> = [S] extends [SyncStore] ? SyncLimiter<N> : Limiter<N>;
