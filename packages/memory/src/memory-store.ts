/**
 * A store in this process. It never fails, forgets when the process ends, and shares nothing with other processes.
 *
 * Each step runs core's `evaluate` or `adjust` to its end before anything else can run, which makes it atomic. Outcomes are
 * copies: nothing that a caller holds changes later. There is no timer; whatever is due leaves with later writes.
 */
import {
  type AlgorithmName,
  type AskStep,
  addShortcuts,
  type Outcome,
  type Step,
  type SyncStore,
  type Traits,
} from '@limiter/core';
import { Engine } from './engine.js';
import { Ledgers } from './ledgers.js';
import { checkOptions, type MemoryStoreOptions, readClock } from './options.js';

export interface MemoryStats {
  /** Keys that are kept: sets of axis values, each with all its limits, and `once` markers. */
  readonly size: number;
  /** The most that are kept. */
  readonly max: number;
  /** Keys that left because nothing of them counted any more. */
  readonly evictedExpired: number;
  /** Keys that left for want of room although something of them counted, with budget left. */
  readonly evictedLive: number;
  /** Keys that left for want of room while nothing more was admissible: somebody got a free budget. Raise `max`. */
  readonly evictedExhausted: number;
}

export interface MemoryStore extends SyncStore {
  readonly traits: Traits & { readonly sync: true; readonly fails: 'never' };
  /** As `runSync`, but lent: the next step writes over the outcome (not where there is an `onEvict`, which may ask). */
  askSync(step: AskStep): Outcome;
  /** What is kept and what has left, since the store was made. */
  stats(): MemoryStats;
}

const ALGORITHMS: readonly AlgorithmName[] = ['fixed-window', 'sliding-window-log', 'token-bucket'];

/**
 * A store that keeps up to `max` keys (default 100,000) in this process. Times are whole ms of its clock.
 *
 * When a new key finds no room, a key whose budget is full again leaves; else the one that was used least recently among
 * those with budget left; a key that is exhausted only when all are. What leaves too early starts again with a full
 * budget: `stats()` counts it, `onEvict` names it.
 *
 * @throws LimiterError ERR_LIMITER_OPTION for a wrong option; ERR_LIMITER_CLOCK from a step, when `clock` returns anything
 * but whole ms, 0 <= now < 2^52: then nothing was changed.
 * @example
 * const store = memoryStore({ max: 50_000, onEvict: ({ values, exhausted }) => console.warn('evicted', values, exhausted) });
 * store.stats().size; // 0
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  return openStore(options).store;
}

/** The store and what it keeps; the tests look into it. */
export function openStore(options: MemoryStoreOptions): { readonly store: MemoryStore; readonly ledgers: Ledgers } {
  const { clock, max, instances, onEvict } = checkOptions(options);
  const ledgers = new Ledgers(max, onEvict !== undefined);
  const engine = new Engine(ledgers);

  function decide(step: Step, now: number): Outcome {
    switch (step.op) {
      case 'adjust':
        return engine.adjust(step, now);
      case 'reset':
        return engine.reset(step, now);
      default:
        return engine.ask(step, now, false);
    }
  }

  function report(): void {
    for (const eviction of ledgers.evictions.splice(0)) {
      try {
        onEvict?.(eviction);
      } catch {
        // A listener is told, not asked: the decision is made, and no mistake of the listener's can undo it.
      }
    }
  }

  function runSync(step: Step): Outcome {
    const outcome = decide(step, readClock(clock));
    if (ledgers.evictions.length > 0) report();
    return outcome;
  }

  // A listener may ask in between, which would write over what was lent.
  const lends = onEvict === undefined;

  function askSync(step: AskStep): Outcome {
    const outcome = engine.ask(step, readClock(clock), lends);
    if (ledgers.evictions.length > 0) report();
    return outcome;
  }

  function run(steps: readonly Step[], signal?: AbortSignal): Promise<readonly Outcome[]> {
    if (signal?.aborted) {
      return Promise.resolve(steps.map(() => ({ ok: false, fault: 'unreachable', cause: signal.reason })));
    }
    try {
      const now = readClock(clock);
      const outcomes = steps.map((step) => decide(step, now));
      if (ledgers.evictions.length > 0) report();
      return Promise.resolve(outcomes);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  const store: Omit<MemoryStore, 'askSync'> = {
    traits: {
      sync: true,
      atomic: 'always',
      clock: options.clock === undefined ? 'own' : 'caller',
      durable: 'no',
      fails: 'never',
      algorithms: ALGORITHMS,
      instances,
    },
    runSync,
    run,
    stats: () => ({
      size: ledgers.table.size,
      max,
      evictedExpired: ledgers.evictedExpired,
      evictedLive: ledgers.evictedLive,
      evictedExhausted: ledgers.evictedExhausted,
    }),
  };
  return { store: addShortcuts(store, { askSync }), ledgers };
}
