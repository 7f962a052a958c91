/**
 * Asks the limits about a request at the time of its log line: the real limiter over the memory store, with a clock that
 * is turned by hand. Each limit is asked twice, as one of all and as if it were the only one, from separate ledgers.
 */
import {
  createLimiter,
  type Decision,
  fixedWindow,
  type Limit,
  LimiterError,
  type LimitStatus,
  type Rate,
  slidingWindowLog,
  tokenBucket,
} from '@limiter/core';
import { memoryStore } from '@limiter/memory';
import { type Axis, subjectOf } from './axes.js';
import { quoted, ReplayError } from './errors.js';
import type { LimitSpec } from './limit-text.js';
import type { LogRequest } from './parse-line.js';

export interface Verdicts {
  /** One question: all limits admit and are charged, or none is. */
  readonly together: Decision;
  /** Each limit as the only one, enforced; in the order of the limits. */
  readonly alone: readonly LimitStatus[];
}

export interface Judge {
  judge(request: LogRequest): Verdicts;
  /** Ledgers forgotten while they still counted. Any makes the figures too low. */
  readonly evicted: number;
}

/** `maxKeys`: ledgers held at once; those whose budget is full again leave first. */
export function createJudge(specs: readonly LimitSpec[], maxKeys: number): Judge {
  let now = 0;
  const store = memoryStore({ clock: () => now, max: maxKeys });
  const axes = [...new Set(specs.flatMap((spec) => spec.axes))];
  const together = createLimiter({
    name: 'together',
    store,
    limits: Object.fromEntries(specs.map((spec) => [spec.name, limitOf(spec)])),
  });
  const alone = specs.map((spec) => {
    const limiter = createLimiter({
      name: 'alone',
      store,
      limits: { [spec.name]: limitOf({ ...spec, shadow: false }) },
    });
    return (request: LogRequest): LimitStatus => status(limiter.consumeSync(subjectOf(request, spec.axes)), spec.name);
  });
  // One enforced limit is both.
  const single = specs.length === 1 && specs[0]?.shadow === false ? specs[0].name : undefined;

  return {
    judge(request) {
      now = request.at;
      const decision = together.consumeSync(subjectOf(request, axes));
      return {
        together: decision,
        alone: single === undefined ? alone.map((ask) => ask(request)) : [status(decision, single)],
      };
    },
    get evicted() {
      const { evictedLive, evictedExhausted } = store.stats();
      return evictedLive + evictedExhausted;
    },
  };
}

const status = (decision: Decision, name: string): LimitStatus => decision.limits[name] as LimitStatus;

/** What the grammar cannot know is refused by the core, with its code; the message gains the limit's text. */
function limitOf(spec: LimitSpec): Limit {
  const { algorithm, amount, per, capacity, align, offset, shadow } = spec;
  const by = (spec.axes.length === 0 ? '*' : spec.axes) as '*' | readonly [Axis, ...Axis[]];
  const options = { by, mode: shadow ? ('shadow' as const) : ('enforce' as const) };
  try {
    if (algorithm === 'token-bucket') return tokenBucket({ ...options, capacity, refill: `${amount}/${per}` as Rate });
    if (algorithm === 'sliding-window-log') return slidingWindowLog({ ...options, limit: amount, window: per });
    return fixedWindow({ ...options, limit: amount, window: per, align, ...(offset === undefined ? {} : { offset }) });
  } catch (error) {
    if (!(error instanceof LimiterError)) throw error;
    throw new ReplayError('ERR_LIMITER_LIMIT_TEXT', `${quoted(spec.text)}: ${error.message}`, { cause: error });
  }
}
