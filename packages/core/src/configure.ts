/** The options of createLimiter(), checked; and the parts of a limiter, put together. */
import type { Answerer } from './answer.js';
import { parseDuration } from './duration.js';
import { LimiterError, shown } from './errors.js';
import { type Consulted, protect } from './failure/protect.js';
import type { Limit } from './limit.js';
import { checkMode, checkOptions } from './limit-checks.js';
import type { Fallback, LimiterOptions } from './limiter-types.js';
import { compilePlan } from './plan.js';
import type { Asker } from './question.js';
import { ReceiptStarts } from './receipt-text.js';
import type { Failure, Store } from './store.js';

export type AnyOptions = LimiterOptions<Store, Record<string, Limit>> & {
  readonly onStoreFailure?: Failure;
  readonly fallback?: Fallback;
};

const OPTIONS = [
  'name',
  'store',
  'limits',
  'mode',
  'onStoreFailure',
  'fallback',
  'storeTimeout',
  'hashTag',
  'onEvent',
  'clock',
];
const WORDS: readonly unknown[] = ['allow', 'deny', 'throw', 'fallback'];

/** Checks the options and puts the parts together. @throws LimiterError */
export function configure(options: AnyOptions): {
  readonly asker: Asker;
  readonly answerer: Answerer;
  readonly store: Store & Consulted;
} {
  checkOptions(options, OPTIONS, 'createLimiter');
  const {
    name,
    store,
    limits,
    mode = 'enforce',
    onStoreFailure,
    fallback,
    hashTag,
    onEvent,
    clock = Date.now,
  } = options;
  checkStore(store, 'store');
  checkMode(mode);
  if (typeof clock !== 'function')
    throw new LimiterError('ERR_LIMITER_OPTION', `clock must be a function that returns ms, got ${shown(clock)}`);
  const plan = compilePlan(name, limits, store.traits.instances ?? 1);
  for (const limit of plan.limits) {
    checkAlgorithm(store, limit.data.algorithm, 'store');
    if (fallback !== undefined)
      checkAlgorithm(checkStore(fallback.store, 'fallback.store'), limit.data.algorithm, 'fallback.store');
  }
  if (hashTag !== undefined && !plan.axes.includes(hashTag)) {
    throw new LimiterError(
      'ERR_LIMITER_OPTION',
      `hashTag must be an axis of the limits (${plan.axes.join(', ')}), got ${shown(hashTag)}`,
    );
  }
  const checkFailure = (word: unknown): Failure | undefined => checkWord(word ?? onStoreFailure, store, fallback);
  checkFailure(undefined);
  const timeoutMs =
    options.storeTimeout === undefined ? undefined : parseDuration(options.storeTimeout, 'storeTimeout');
  return {
    asker: { plan, hashTag, checkFailure },
    answerer: { name, plan, mode, now: clock, receipts: new ReceiptStarts(name, randomPart) },
    store: protect(store, { name, timeoutMs, fallback, onEvent }),
  };
}

function checkWord(word: unknown, store: Store, fallback: Fallback | undefined): Failure | undefined {
  if (word === undefined && store.traits.fails === 'never') return undefined;
  if (!WORDS.includes(word)) {
    const rule = 'onStoreFailure must be "allow", "deny", "throw" or "fallback" (nobody gets a default by silence)';
    throw new LimiterError('ERR_LIMITER_FAILURE_POLICY', `${rule}, got ${shown(word)}`);
  }
  if (word === 'fallback' && fallback === undefined) {
    throw new LimiterError(
      'ERR_LIMITER_FAILURE_POLICY',
      'onStoreFailure "fallback" needs the option fallback: { store, share }, got none',
    );
  }
  return word as Failure;
}

function checkStore(store: unknown, what: string): Store {
  const candidate = store as Partial<Store> | null | undefined;
  if (
    typeof candidate !== 'object' ||
    candidate === null ||
    typeof candidate.run !== 'function' ||
    typeof candidate.traits !== 'object' ||
    candidate.traits === null
  ) {
    throw new LimiterError(
      'ERR_LIMITER_STORE',
      `${what} must have run() and traits, like memoryStore(), got ${shown(store)}`,
    );
  }
  return candidate as Store;
}

function checkAlgorithm(store: Store, algorithm: Limit['algorithm'], what: string): void {
  if (!store.traits.algorithms.includes(algorithm)) {
    throw new LimiterError(
      'ERR_LIMITER_STORE_UNSUITABLE',
      `${what} must know the algorithm ${algorithm}, got one that knows ${store.traits.algorithms.join(', ')}`,
    );
  }
}

/** 80 random bits. */
function randomPart(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(10));
  return `${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}-`;
}
