/** createLimiter(): names, costs, tiers and words in; one step to the store; a decision out. */
import { adjustments, type Correction, refundStep, settleStep } from './adjusting.js';
import { type Answerer, causeText, decide, decideUnasked } from './answer.js';
import { closedReceipts } from './closed-receipts.js';
import type { Decision } from './decision.js';
import { parseDuration } from './duration.js';
import { LimiterError, shown } from './errors.js';
import { protect } from './failure/protect.js';
import type { Limit } from './limit.js';
import type {
  Adjustments,
  FailureOptions,
  Fallback,
  LimiterOptions,
  Made,
  NeverFails,
  NoFailure,
  Once,
  ResetOptions,
  Shared,
  SyncLimiter,
} from './limiter-types.js';
import { compilePlan } from './plan.js';
import { type Asker, ask, type CallOptions, ledgersOf, type Question, template } from './question.js';
import { readReceipt } from './receipt.js';
import { receiptStart } from './receipt-text.js';
import type { Failure, Outcome, ResetStep, Step, Store } from './store.js';

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
const DEFAULT_TIMEOUT_MS = 250;

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

type AnyOptions = LimiterOptions<Store, Record<string, Limit>> & {
  readonly onStoreFailure?: Failure;
  readonly fallback?: Fallback;
};

function makeLimiter(options: AnyOptions): SyncLimiter {
  const { asker, answerer, store } = configure(options);
  const receipts = closedReceipts();
  // A store that cannot fail answers at once; every other is asked through `run`, where deadlines and batches live.
  const atOnce = store.runSync !== undefined && store.traits.fails === 'never';
  const kept = atOnce ? template(asker) : undefined;
  let closed = false;
  /** The kept question is in use: an eviction listener that asks again gets one of its own. */
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
  async function run(step: Step): Promise<Outcome> {
    const [outcome] = await store.run([step]);
    if (outcome === undefined)
      throw new LimiterError('ERR_LIMITER_STORE', 'a store must answer each step with one outcome, got none');
    return outcome;
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
    const asked = kept === undefined || busy || closed ? undefined : kept.fill(subject, call);
    if (asked === undefined || asked.step.charges.length === 0) return askSync('consume', subject, call, false);
    busy = true;
    try {
      return decide(answerer, asked, runSync(asked.step));
    } finally {
      busy = false;
    }
  }
  async function askAsync(
    op: 'consume' | 'peek',
    subject: unknown,
    call: CallOptions | undefined,
    inspect: boolean,
  ): Promise<Decision> {
    if (atOnce) return op === 'consume' ? consumeSync(subject, call) : askSync(op, subject, call, inspect);
    const asked = question(op, subject, call, inspect);
    return asked.step.charges.length === 0
      ? decideUnasked(answerer, asked)
      : decide(answerer, asked, await run(asked.step));
  }

  /** Nothing to send, or a receipt that was used: the answer without the store. */
  function correct(
    text: unknown,
    amount: unknown,
    once: Once | undefined,
    stepOf: typeof refundStep,
  ): { readonly id: string; readonly correction: Correction } | Adjustments<string> {
    open();
    if (text === undefined) return { closed: false, failure: undefined, limits: {} };
    const receipt = readReceipt(text, options.name);
    const correction = stepOf(receipt, amount, checkOnce(once), options.onStoreFailure);
    if (!receipts.close(receipt.id)) return { closed: true, failure: undefined, limits: {} };
    // A fallback's charge lies in the fallback's ledgers; the ids mean nothing to a store that never has one.
    const elsewhere = receipt.by === 'fallback' && atOnce;
    const nothing = elsewhere || (correction.step.adjustments.length === 0 && correction.step.once === undefined);
    return nothing ? { closed: false, failure: undefined, limits: {} } : { id: receipt.id, correction };
  }
  function corrected(id: string, correction: Correction, outcome: Outcome): Adjustments<string> {
    // Only an unknown outcome may have run; every other fault left the charge as it was, so the receipt may be used again.
    if (!outcome.ok && outcome.fault !== 'unknown-outcome') receipts.reopen(id);
    if (!outcome.ok && options.onStoreFailure === 'throw') throw storeFailed(outcome.cause);
    return adjustments(correction, outcome);
  }
  function adjustSync(
    text: unknown,
    amount: unknown,
    once: Once | undefined,
    stepOf: typeof refundStep,
  ): Adjustments<string> {
    const work = correct(text, amount, once, stepOf);
    return 'id' in work ? corrected(work.id, work.correction, runSync(work.correction.step)) : work;
  }
  async function adjustAsync(
    text: unknown,
    amount: unknown,
    once: Once | undefined,
    stepOf: typeof refundStep,
  ): Promise<Adjustments<string>> {
    const work = correct(text, amount, once, stepOf);
    return 'id' in work ? corrected(work.id, work.correction, await run(work.correction.step)) : work;
  }
  function resetStep(subject: unknown, reset: ResetOptions<string> | undefined): ResetStep {
    open();
    return { op: 'reset', ledgers: ledgersOf(asker, subject, reset?.limits) };
  }

  return {
    consume: (subject, call) => askAsync('consume', subject, call as CallOptions, false),
    peek: (subject, call) => askAsync('peek', subject, call as CallOptions, false),
    inspect: (subject, call) => askAsync('peek', subject, call as CallOptions, true),
    refund: (receipt, cost, once) => adjustAsync(receipt, cost, once, refundStep),
    settle: (receipt, actual, once) => adjustAsync(receipt, actual, once, settleStep),
    reset: async (subject, reset) => {
      const step = resetStep(subject, reset);
      const outcome = await run(step);
      if (!outcome.ok) throw storeFailed(outcome.cause);
    },
    close: async () => {
      closed = true;
    },
    consumeSync: (subject, call) => consumeSync(subject, call as CallOptions),
    peekSync: (subject, call) => askSync('peek', subject, call as CallOptions, false),
    inspectSync: (subject, call) => askSync('peek', subject, call as CallOptions, true),
    refundSync: (receipt, cost, once) => adjustSync(receipt, cost, once, refundStep),
    settleSync: (receipt, actual, once) => adjustSync(receipt, actual, once, settleStep),
    resetSync: (subject, reset) => {
      const outcome = runSync(resetStep(subject, reset));
      if (!outcome.ok) throw storeFailed(outcome.cause);
    },
  };
}

function storeFailed(cause: unknown): LimiterError {
  return new LimiterError('ERR_LIMITER_STORE_FAILURE', `the store failed: ${causeText(cause)}`, { cause });
}

function checkOnce(once: Once | undefined): boolean {
  const where = once?.once ?? 'process';
  if (where !== 'process' && where !== 'everywhere') {
    throw new LimiterError('ERR_LIMITER_OPTION', `once must be "process" or "everywhere", got ${shown(where)}`);
  }
  return where === 'everywhere';
}

/** Checks the options and puts the parts together. @throws LimiterError */
function configure(options: AnyOptions): { readonly asker: Asker; readonly answerer: Answerer; readonly store: Store } {
  if (typeof options !== 'object' || options === null) {
    throw new LimiterError('ERR_LIMITER_OPTION', `createLimiter() takes an options object, got ${shown(options)}`);
  }
  for (const key of Object.keys(options)) {
    if (!OPTIONS.includes(key))
      throw new LimiterError(
        'ERR_LIMITER_OPTION',
        `createLimiter() has no option ${shown(key)}; it has ${OPTIONS.join(', ')}`,
      );
  }
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
  if (mode !== 'enforce' && mode !== 'shadow')
    throw new LimiterError('ERR_LIMITER_OPTION', `mode must be "enforce" or "shadow", got ${shown(mode)}`);
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
    options.storeTimeout === undefined ? DEFAULT_TIMEOUT_MS : parseDuration(options.storeTimeout, 'storeTimeout');
  return {
    asker: { plan, hashTag, checkFailure },
    answerer: { name, plan, mode, now: clock, receipts: lazyReceipts(name) },
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
    typeof candidate.traits !== 'object'
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

/** Ids begin with 80 random bits, drawn at the first receipt: some runtimes give none while modules are loaded. */
function lazyReceipts(name: string): Answerer['receipts'] {
  let start: string | undefined;
  return {
    count: 0,
    get start() {
      start ??= receiptStart(name, randomPart());
      return start;
    },
  };
}

/** With a counter, an id that no other limiter, process or machine makes. */
function randomPart(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(10));
  return `${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}-`;
}
