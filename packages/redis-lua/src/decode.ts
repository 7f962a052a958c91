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
  type TokenBucketRule,
  type Verdict,
  type WindowState,
} from '@limiter/core';

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

/** Why a reply could not be read. */
class NotOurs extends Error {}

/** The numbers of a packed reply: little-endian doubles. */
function unpacked(bytes: Uint8Array): readonly number[] {
  if (bytes.byteLength % 8 !== 0) throw new NotOurs(`the reply has ${bytes.byteLength} bytes, which are no numbers`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.byteLength / 8 }, (_, i) => view.getFloat64(8 * i, true));
}

/** Reads a flat reply from left to right. */
class Reader {
  readonly #reply: readonly unknown[];
  #at = 0;

  constructor(reply: readonly unknown[]) {
    this.#reply = reply;
  }

  /** The next whole number; large ones travel as text. */
  next(): number {
    const item = this.#reply[this.#at];
    const number = typeof item === 'string' && item !== '' ? Number(item) : item;
    if (!Number.isSafeInteger(number)) throw new NotOurs(`item ${this.#at} of the reply is no whole number`);
    this.#at += 1;
    return number as number;
  }

  end(): void {
    if (this.#at !== this.#reply.length)
      throw new NotOurs(`the reply has ${this.#reply.length - this.#at} items too many`);
  }
}

/**
 * One outcome for each of `steps`, from what EVALSHA answered to their call: a list, or bytes when a packed reply was asked for. Never throws: a reply that cannot be read (null among
 * them) is the fault `unknown-outcome` for every step, because nobody knows what ran.
 */
export function decodeReply(reply: unknown, steps: readonly Step[]): readonly Outcome[] {
  try {
    const items = reply instanceof Uint8Array ? unpacked(reply) : reply;
    if (!Array.isArray(items)) throw new NotOurs(`the reply is ${reply === null ? 'null' : `a ${typeof reply}`}`);
    const reader = new Reader(items);
    const now = reader.next();
    const outcomes = steps.map((step) => outcomeOf(reader, step, now));
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

/** What was read of one charge: what was used or owed before the step, or the verdict of a log. */
type Answer = StateAnswer | { readonly kind: 'log'; readonly admits: boolean; readonly verdict: Verdict };

interface StateAnswer {
  readonly kind: 'state';
  readonly admits: boolean;
  readonly state: WindowState | BucketState | undefined;
  /** Where the charge lies, when it was charged. */
  readonly mark: Mark | undefined;
}

function askOutcome(reader: Reader, step: AskStep, now: number): Outcome {
  const { charges } = step;
  const answers: Answer[] = [];
  let allowed = true;
  for (let i = 0; i < charges.length; i += 1) {
    const charge = charges[i] as Charge;
    const word = reader.next();
    if (word < 0 && word > LARGE) return corrupt(word, charges[reader.next() - 1]?.ledger.name ?? 'a ledger');
    const answer =
      charge.rule.algorithm === 'sliding-window-log'
        ? logAnswer(reader, word, charge, charge.rule)
        : stateAnswer(reader, word, charge.rule, now);
    if (charge.enforce && !answer.admits) allowed = false;
    answers.push(answer);
  }
  const verdicts = answers.map((answer, i) =>
    answer.kind === 'log' ? answer.verdict : stateVerdict(answer, charges[i] as Charge, now),
  );
  return { ok: true, op: step.op, now, allowed, verdicts };
}

function stateAnswer(reader: Reader, word: number, rule: FixedWindowRule | TokenBucketRule, now: number): StateAnswer {
  const bits = word < 0 ? LARGE - word : word % BITS;
  const level = word < 0 ? reader.next() : (word - bits) / BITS;
  const isWindow = rule.algorithm === 'fixed-window';
  let state: WindowState | BucketState | undefined;
  if ((bits & HAS_STATE) !== 0) {
    const at = (bits & HAS_ANCHOR) !== 0 ? reader.next() : isWindow ? windowStart(rule, now) : now;
    state = isWindow ? { start: at, used: level, id: 0 } : { debt: level, at, charged: 0, id: 0 };
  }
  let mark: Mark | undefined;
  if ((bits & CHARGED) !== 0) {
    const position = reader.next();
    mark = { id: reader.next(), at: evaluatedAt(state, now), position };
  }
  return { kind: 'state', admits: (bits & ADMITS) !== 0, state, mark };
}

/** A bucket whose anchor lies a little after `now` is charged at its anchor. For a window it does not matter. */
function evaluatedAt(state: WindowState | BucketState | undefined, now: number): number {
  const at = state !== undefined && 'debt' in state ? state.at : now;
  return at > now && at - now <= STEP_BACK_MS ? at : now;
}

/** The verdict that core gives on the state that Lua decided on. Lua wrote what it decided, so that stands. */
function stateVerdict({ admits, state, mark }: StateAnswer, { rule, cost, holdBack }: Charge, now: number): Verdict {
  const algorithm = algorithms[rule.algorithm];
  const view = algorithm.view(state, rule, now);
  const charged = mark !== undefined;
  const { remaining, resetAfterMs, moreAfterMs } = algorithm.numbers(view, rule, holdBack, charged ? cost : 0);
  let retryAfterMs = 0;
  if (!admits) {
    retryAfterMs =
      cost > ruleLimit(rule) - holdBack ? Number.POSITIVE_INFINITY : algorithm.waitMs(view, rule, cost, holdBack);
  }
  return {
    admits,
    heldBack: !admits && holdBack > 0 && algorithm.admits(view, rule, cost, 0),
    charged,
    remaining,
    retryAfterMs,
    resetAfterMs,
    moreAfterMs,
    mark,
  };
}

function logAnswer(reader: Reader, word: number, { cost, holdBack }: Charge, rule: SlidingWindowLogRule): Answer {
  const admits = (word & ADMITS) !== 0;
  const used = reader.next();
  const waitMs = reader.next();
  const resetAfterMs = reader.next();
  const moreAfterMs = reader.next();
  const budget = rule.limit - holdBack;
  const charged = (word & CHARGED) !== 0;
  return {
    kind: 'log',
    admits,
    verdict: {
      admits,
      heldBack: !admits && holdBack > 0 && cost <= rule.limit - used,
      charged,
      remaining: Math.max(0, budget - used),
      retryAfterMs: !admits && cost > budget ? Number.POSITIVE_INFINITY : waitMs,
      resetAfterMs,
      moreAfterMs,
      mark: charged ? { id: reader.next(), at: reader.next(), position: 0 } : undefined,
    },
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
