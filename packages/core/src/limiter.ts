/** createLimiter(): names, costs, tiers and words in; one step to the store; a decision out. */
import { refundStep, settleStep } from './adjusting.js';
import { decide, decideUnasked } from './answer.js';
import { type AnyOptions, configure } from './configure.js';
import { checkKeys, createCorrections, storeFailed } from './correcting.js';
import type { Decision } from './decision.js';
import { LimiterError, shown } from './errors.js';
import type { Limit } from './limit.js';
import type {
  FailureOptions,
  Fallback,
  LimiterOptions,
  Made,
  NeverFails,
  NoFailure,
  ResetOptions,
  Shared,
  SyncLimiter,
} from './limiter-types.js';
import { ask, type CallOptions, ledgersOf, type Question } from './question.js';
import type { AskStep, Failure, Outcome, ResetStep, Step, Store } from './store.js';
import { template } from './template.js';

/**
 * A limiter: several budgets asked as one question.
 *
 * Every limit admits and is charged, or none is. A denial is a value; exceptions are for mistakes, which are found here at
 * construction where that is possible, and for stores that fail under `onStoreFailure: 'throw'`.
 *
 * @throws LimiterError with a code of docs/errors.md
 * @example
 * const api = createLimiter({
 *   name: 'api',
 *   store: memoryStore(),
 *   limits: { burst: tokenBucket({ capacity: 20, refill: '10/1s' }), day: fixedWindow({ limit: 5_000, window: '1d' }) },
 * });
 * const { allowed, retryAfterMs } = await api.consume('user:17', { cost: 3 });
 */
export function createLimiter<S extends Store, const L extends Record<string, Limit>, B extends Fallback = never>(
  options: LimiterOptions<S, L> & { readonly fallback?: B } & ([S] extends [NeverFails]
      ? FailureOptions | NoFailure
      : FailureOptions),
): Made<
  S,
  {
    axes: L[keyof L]['axes'][number];
    limits: keyof L & string;
    tiers: Shared<L>;
    priorities: L[keyof L]['priorities'][number];
    failures: [B] extends [never] ? 'allow' | 'deny' | 'throw' : Failure;
  }
> {
  // One object serves both types: the ...Sync forms refuse an asynchronous store at run time as the types do at compile time.
  return makeLimiter(options as AnyOptions) as never;
}

function makeLimiter(options: AnyOptions): SyncLimiter {
  const { asker, answerer, store } = configure(options);
  const { consult } = store;
  // A store that cannot fail answers at once; every other is asked through `run`, where deadlines and batches live.
  const atOnce = store.runSync !== undefined && store.traits.fails === 'never';
  // What a store knows by heart costs it nothing, so the limiter asks for that first.
  const recall = options.store.recall?.bind(options.store);
  const kept = atOnce || recall !== undefined ? template(asker) : undefined;
  let closed = false;
  /** The kept question is in use: a getter or an eviction listener that asks again gets one of its own. */
  let busy = false;

  function open(): void {
    if (closed)
      throw new LimiterError('ERR_LIMITER_CLOSED', `limiter ${shown(options.name)} must not be used after close()`);
  }
  function runSync(step: Step): Outcome {
    if (store.runSync === undefined) {
      throw new LimiterError(
        'ERR_LIMITER_STORE_UNSUITABLE',
        'the ...Sync forms need a store with traits.sync, got an asynchronous one',
      );
    }
    return store.runSync(step);
  }
  /** The outcome is read before the store is asked again. */
  function askStore(step: AskStep): Outcome {
    return store.askSync === undefined ? runSync(step) : store.askSync(step);
  }
  function only(outcomes: readonly Outcome[]): Outcome {
    const [outcome] = outcomes;
    if (outcome === undefined)
      throw new LimiterError('ERR_LIMITER_STORE', 'a store must answer each step with one outcome, got none');
    return outcome;
  }
  async function run(step: Step): Promise<Outcome> {
    return only(await store.run([step]));
  }
  function question(
    op: 'consume' | 'peek',
    subject: unknown,
    call: CallOptions | undefined,
    inspect: boolean,
  ): Question {
    open();
    return ask(asker, op, subject, call, inspect);
  }
  function askSync(
    op: 'consume' | 'peek',
    subject: unknown,
    call: CallOptions | undefined,
    inspect: boolean,
  ): Decision {
    const asked = question(op, subject, call, inspect);
    return asked.step.charges.length === 0
      ? decideUnasked(answerer, asked)
      : decide(answerer, asked, runSync(asked.step));
  }
  function consumeSync(subject: unknown, call: CallOptions | undefined): Decision {
    if (kept === undefined || !atOnce || busy || closed) return askSync('consume', subject, call, false);
    busy = true;
    try {
      const asked = kept.fill(subject, call);
      if (asked !== undefined) return decide(answerer, asked, askStore(asked.step));
    } finally {
      busy = false;
    }
    return askSync('consume', subject, call, false);
  }
  /** The decision that the store knows by heart, if it does. */
  function recalled(subject: unknown, call: CallOptions | undefined): Decision | undefined {
    if (kept === undefined || recall === undefined || busy || closed) return undefined;
    busy = true;
    try {
      const asked = kept.fill(subject, call);
      const known = asked === undefined ? undefined : recall(asked.step);
      return known === undefined ? undefined : decide(answerer, asked as Question, known);
    } finally {
      busy = false;
    }
  }
  /** Not an async function: every call would pay for the promises that one makes. A mistake is a rejection all the same. */
  function askAsync(
    op: 'consume' | 'peek',
    subject: unknown,
    call: CallOptions | undefined,
    inspect: boolean,
  ): Promise<Decision> {
    try {
      if (atOnce) {
        return Promise.resolve(op === 'consume' ? consumeSync(subject, call) : askSync(op, subject, call, inspect));
      }
      const remembered = op === 'consume' ? recalled(subject, call) : undefined;
      if (remembered !== undefined) return Promise.resolve(remembered);
      const asked = question(op, subject, call, inspect);
      if (asked.step.charges.length === 0) return Promise.resolve(decideUnasked(answerer, asked));
      const known = recall?.(asked.step);
      if (known !== undefined) return Promise.resolve(decide(answerer, asked, known));
      if (consult === undefined) return run(asked.step).then((outcome) => decide(answerer, asked, outcome));
      return new Promise((resolve, reject) => {
        consult(asked.step, (outcome) => resolve(decide(answerer, asked, outcome)), reject);
      });
    } catch (error) {
      return Promise.reject(error);
    }
  }

  const corrections = createCorrections({
    limiter: options.name,
    limits: asker.plan.limits.map((limit) => limit.name),
    word: options.onStoreFailure,
    neverFails: atOnce,
    open,
    run,
    runSync,
  });
  function resetStep(subject: unknown, reset: ResetOptions<string> | undefined): ResetStep {
    open();
    checkKeys(reset, 'limits', 'a reset');
    return { op: 'reset', ledgers: ledgersOf(asker, subject, reset?.limits) };
  }

  return {
    consume: (subject, call) => askAsync('consume', subject, call as CallOptions, false),
    peek: (subject, call) => askAsync('peek', subject, call as CallOptions, false),
    inspect: (subject, call) => askAsync('peek', subject, call as CallOptions, true),
    refund: (receipt, cost, once) => corrections.later(receipt, cost, once, refundStep),
    settle: (receipt, actual, once) => corrections.later(receipt, actual, once, settleStep),
    reset: async (subject, reset) => {
      const step = resetStep(subject, reset);
      const outcome = await run(step);
      if (!outcome.ok) throw storeFailed(outcome);
    },
    close: async () => {
      closed = true;
    },
    consumeSync: (subject, call) => consumeSync(subject, call as CallOptions),
    peekSync: (subject, call) => askSync('peek', subject, call as CallOptions, false),
    inspectSync: (subject, call) => askSync('peek', subject, call as CallOptions, true),
    refundSync: (receipt, cost, once) => corrections.now(receipt, cost, once, refundStep),
    settleSync: (receipt, actual, once) => corrections.now(receipt, actual, once, settleStep),
    resetSync: (subject, reset) => {
      const outcome = runSync(resetStep(subject, reset));
      if (!outcome.ok) throw storeFailed(outcome);
    },
  };
}
