/**
 * The answer of the Lua program as outcomes. Lua says what it decided and the state it decided on; the waits and what remains of windows and
 * buckets are core's own functions of that state, so there is one place where they are worked out. A log's waits come from Lua.
 */
import {
  type Adjusted,
  type AdjustStep,
  type AskStep,
  algorithms,
  type BucketState,
  type Charge,
  type FaultOutcome,
  type FixedWindowRule,
  type Mark,
  type Outcome,
  ruleLimit,
  type SlidingWindowLogRule,
  type Step,
  type Verdict,
  type WindowState,
} from '@limiter/core';
import { NotOurs, Reader } from './reader.js';

/** The bits of lua/shared/answer.lua. */
const ADMITS = 1;
const HAS_STATE = 2;
const HAS_ANCHOR = 4;
const CHARGED = 8;
const BITS = 16;
/** From here down the level stands apart. */
const LARGE = -100;

/** A clock that is at most this far behind is waited for, as in core. */
const STEP_BACK_MS = 2_000;

/** The start of the window that holds `now`, as in core. */
function windowStart(rule: FixedWindowRule, now: number): number {
  const since = (now - rule.offsetMs) % rule.windowMs;
  return now - (since < 0 ? since + rule.windowMs : since);
}

/**
 * One outcome for each of `steps`, from what EVALSHA answered to their call: a list, or bytes when a packed reply was
 * asked for. Never throws: a reply that cannot be read (null among them) is the fault `unknown-outcome` for every step, because nobody
 * knows what ran.
 */
export function decodeReply(reply: unknown, steps: readonly Step[]): readonly Outcome[] {
  try {
    const reader = new Reader(reply);
    const now = reader.next();
    const outcomes: Outcome[] = [];
    for (const step of steps) outcomes.push(outcomeOf(reader, step, now));
    reader.end();
    return outcomes;
  } catch (cause) {
    return steps.map(() => ({ ok: false, fault: 'unknown-outcome', cause }));
  }
}

/**
 * What an error reply to the call says of its steps. `refused`: nothing was written (out of memory, read-only, no permission ...), or
 * nothing ran (`LIMITERLATE`, the deadline had passed). `unknown-outcome`: an error after the first write, so that a part may have been written.
 */
export function faultOfError(message: string): 'refused' | 'unknown-outcome' {
  return message.includes('LIMITERPARTIAL') ? 'unknown-outcome' : 'refused';
}

function outcomeOf(reader: Reader, step: Step, now: number): Outcome {
  switch (step.op) {
    case 'consume':
    case 'peek':
      return askOutcome(reader, step, now);
    case 'adjust':
      return adjustOutcome(reader, step, now);
    case 'reset':
      if (reader.next() !== 1) throw new NotOurs('a reset was not answered');
      return { ok: true, op: 'reset', now };
  }
}

function corrupt(code: number, name: string): FaultOutcome {
  const holds = code === -1 ? 'a key of another type' : 'no state of format 1';
  return { ok: false, fault: 'corrupt', cause: new Error(`the key of ${name} must hold a ledger, got ${holds}`) };
}

function askOutcome(reader: Reader, step: AskStep, now: number): Outcome {
  const { charges } = step;
  const verdicts: Verdict[] = [];
  let allowed = true;
  for (const charge of charges) {
    const word = reader.next();
    if (word < 0 && word > LARGE) return corrupt(word, charges[reader.next() - 1]?.ledger.name ?? 'a ledger');
    const verdict = verdictOf(reader, word, charge, now);
    if (charge.enforce && !verdict.admits) allowed = false;
    verdicts.push(verdict);
  }
  return { ok: true, op: step.op, now, allowed, verdicts };
}

function verdictOf(reader: Reader, word: number, charge: Charge, now: number): Verdict {
  const { rule } = charge;
  if (rule.algorithm === 'sliding-window-log') return logVerdict(reader, word, charge, rule);
  const bits = word < 0 ? LARGE - word : word % BITS;
  const level = word < 0 ? reader.next() : (word - bits) / BITS;
  const anchor = (bits & HAS_ANCHOR) !== 0 ? reader.next() : undefined;
  const hasState = (bits & HAS_STATE) !== 0;
  return rule.algorithm === 'token-bucket'
    ? bucketVerdict(
        reader,
        bits,
        hasState ? { debt: level, at: anchor ?? now, charged: 0, id: 0 } : undefined,
        charge,
        now,
      )
    : windowVerdict(
        reader,
        bits,
        hasState ? { start: anchor ?? windowStart(rule, now), used: level, id: 0 } : undefined,
        charge,
        now,
      );
}

// The algorithms by name, not looked up for each charge: what is called is known then, and the engine inlines it. Each is written into
// the records of the charge before.
const bucket = algorithms['token-bucket'];
const window = algorithms['fixed-window'];
let bucketView: unknown;
let windowView: unknown;
let bucketNumbers: ReturnType<typeof bucket.numbers> | undefined;
let windowNumbers: ReturnType<typeof window.numbers> | undefined;

function bucketVerdict(
  reader: Reader,
  bits: number,
  state: BucketState | undefined,
  charge: Charge,
  now: number,
): Verdict {
  const { rule, cost, holdBack } = charge;
  const charged = (bits & CHARGED) !== 0;
  // A bucket whose anchor lies a little after `now` is charged at its anchor.
  const at = state !== undefined && state.at > now && state.at - now <= STEP_BACK_MS ? state.at : now;
  const mark = charged ? markAt(reader, at) : undefined;
  bucketView = bucket.view(state, rule, now, bucketView as object);
  bucketNumbers = bucket.numbers(bucketView, rule, holdBack, charged ? cost : 0, bucketNumbers);
  const { remaining, resetAfterMs, moreAfterMs } = bucketNumbers;
  const admits = (bits & ADMITS) !== 0;
  return {
    admits,
    heldBack: !admits && holdBack > 0 && bucket.admits(bucketView, rule, cost, 0),
    charged,
    remaining,
    retryAfterMs: admits ? 0 : retryAfterMs(charge, () => bucket.waitMs(bucketView, rule, cost, holdBack)),
    resetAfterMs,
    moreAfterMs,
    mark,
  };
}

function windowVerdict(
  reader: Reader,
  bits: number,
  state: WindowState | undefined,
  charge: Charge,
  now: number,
): Verdict {
  const { rule, cost, holdBack } = charge;
  const charged = (bits & CHARGED) !== 0;
  const mark = charged ? markAt(reader, now) : undefined;
  windowView = window.view(state, rule, now, windowView as object);
  windowNumbers = window.numbers(windowView, rule, holdBack, charged ? cost : 0, windowNumbers);
  const { remaining, resetAfterMs, moreAfterMs } = windowNumbers;
  const admits = (bits & ADMITS) !== 0;
  return {
    admits,
    heldBack: !admits && holdBack > 0 && window.admits(windowView, rule, cost, 0),
    charged,
    remaining,
    retryAfterMs: admits ? 0 : retryAfterMs(charge, () => window.waitMs(windowView, rule, cost, holdBack)),
    resetAfterMs,
    moreAfterMs,
    mark,
  };
}

/** Where the charge lies. */
function markAt(reader: Reader, at: number): Mark {
  const position = reader.next();
  return { id: reader.next(), at, position };
}

/** Refused: for ever, or for as long as core says. */
function retryAfterMs({ rule, cost, holdBack }: Charge, waitMs: () => number): number {
  return cost > ruleLimit(rule) - holdBack ? Number.POSITIVE_INFINITY : waitMs();
}

function logVerdict(reader: Reader, word: number, { cost, holdBack }: Charge, rule: SlidingWindowLogRule): Verdict {
  const admits = (word & ADMITS) !== 0;
  const used = reader.next();
  const waitMs = reader.next();
  const resetAfterMs = reader.next();
  const moreAfterMs = reader.next();
  const budget = rule.limit - holdBack;
  const charged = (word & CHARGED) !== 0;
  return {
    admits,
    heldBack: !admits && holdBack > 0 && cost <= rule.limit - used,
    charged,
    remaining: Math.max(0, budget - used),
    retryAfterMs: !admits && cost > budget ? Number.POSITIVE_INFINITY : waitMs,
    resetAfterMs,
    moreAfterMs,
    mark: charged ? { id: reader.next(), at: reader.next(), position: 0 } : undefined,
  };
}

function adjustOutcome(reader: Reader, step: AdjustStep, now: number): Outcome {
  const tag = reader.next();
  if (tag < 0) {
    const place = reader.next();
    return corrupt(tag, place === 0 ? 'the marker' : (step.adjustments[place - 1]?.ledger.name ?? 'a ledger'));
  }
  if (tag === 1) return { ok: true, op: 'adjust', now, closed: true, adjusted: [] };
  const adjusted = step.adjustments.map(({ change, amount }): Adjusted => {
    const givenBack = reader.next();
    const charged = reader.next();
    return { givenBack, charged, cut: change === 'charge' ? amount - charged : 0 };
  });
  return { ok: true, op: 'adjust', now, closed: false, adjusted };
}
