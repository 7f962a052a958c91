/** What `memoryStore` may be told, checked once. */
import { LimiterError } from '@limiter/core';

/** A key that left although something of it still counted: what it had used is forgotten, so its budget is new. */
export interface Eviction {
  /** The values of the key (`['10.0.0.1']`), in the order of the limit's axes. Empty for the key that everybody shares, and for a `once` marker. */
  readonly values: readonly string[];
  readonly slot: string | undefined;
  /** The ledgers that left with it, by name (`api/burst`). Empty for a `once` marker: its receipt could be used a second time. */
  readonly ledgers: readonly string[];
  /** Nothing more of cost 1 was admissible: somebody who was refused is let in again. */
  readonly exhausted: boolean;
  /** In how many ms it could have left without loss. */
  readonly fullAgainInMs: number;
}

export interface MemoryStoreOptions {
  /** Whole ms since the Unix epoch, 0 <= now < 2^52; for tests and virtual time. Default: `Date.now`. */
  readonly clock?: (() => number) | undefined;
  /** How many keys are kept, 1 .. 8,000,000. A key is one set of axis values, with all its limits. Default 100,000. */
  readonly max?: number | undefined;
  /** How many processes like this one share the traffic: every limit is divided by it, rounding down. 1 .. 2^53-1. Default 1. */
  readonly instances?: number | undefined;
  /** Called after the step in which a key left although something of it still counted. What it throws is ignored. */
  readonly onEvict?: ((eviction: Eviction) => void) | undefined;
}

export interface CheckedOptions {
  readonly clock: () => number;
  readonly max: number;
  readonly instances: number;
  readonly onEvict: ((eviction: Eviction) => void) | undefined;
}

const DEFAULT_MAX = 100_000;
/** A Map has room for 2^24 keys, those included that have left since it was last tidied; it tidies itself where they are half. */
const MOST_KEYS = 8_000_000;
const CLOCK_END = 2 ** 52;

export function checkOptions(options: MemoryStoreOptions): CheckedOptions {
  const { clock = Date.now, max = DEFAULT_MAX, instances = 1, onEvict } = options;
  if (typeof clock !== 'function') throw wrong('clock must be a function that returns ms', clock);
  if (onEvict !== undefined && typeof onEvict !== 'function') throw wrong('onEvict must be a function', onEvict);
  if (!Number.isInteger(max) || max < 1 || max > MOST_KEYS) {
    throw wrong(`max must be a whole number of keys, 1 .. ${MOST_KEYS}`, max);
  }
  if (!Number.isSafeInteger(instances) || instances < 1) {
    throw wrong('instances must be a whole number of processes >= 1', instances);
  }
  return { clock, max, instances, onEvict };
}

/** The clock's time, read once; an error when it is not a time, before anything is changed. */
export function readClock(clock: () => number): number {
  const now: unknown = clock();
  // Adding 0 turns -0 into 0.
  if (typeof now === 'number' && now >= 0 && now < CLOCK_END && Math.floor(now) === now) return now + 0;
  throw new LimiterError(
    'ERR_LIMITER_CLOCK',
    `the clock must return whole ms since the Unix epoch, 0 <= now < 2^52, got ${shown(now)}`,
  );
}

function wrong(rule: string, value: unknown): LimiterError {
  return new LimiterError('ERR_LIMITER_OPTION', `${rule}, got ${shown(value)}`);
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 60));
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return Object.is(value, -0) ? '-0' : String(value);
}
