/**
 * From steps to requests. The steps that are asked in one go travel in one script call, which is one HTTP request; each is
 * judged as if alone and answered alone. A call is sent once, with two exceptions that prove that nothing ran: NOSCRIPT, and
 * the script's "too late" after which the caller is found to have time left (the server's clock was not where it was thought
 * to be).
 *
 * Steps are gathered up to the end of the running microtasks and no longer: on edge runtimes a request to the outside belongs
 * to the incoming request that it was made in, and whatever waits for a timer or for somebody else's answer may meet another.
 */
import type { DeadlineSignal, FaultOutcome, Outcome, Step } from '@limiter/core';
import {
  faultOfError,
  lateAt,
  MAX_KEYS_PER_CALL,
  MAX_STEPS_PER_CALL,
  type Program,
  type ServerClocks,
} from '@limiter/redis-lua';
import type { Reply, Rest } from './rest.js';

/** Beyond this a call of several steps is cut in two: a database takes requests of 1 MB at least, and a character up to 3 bytes. */
const MAX_CALL_CHARACTERS = 300_000;
/** There is one server, as far as its clock is concerned. */
const SERVER = 'upstash';

export interface DispatcherOptions {
  /** A step whose signal does not say when it will abort is not carried out when it arrives later than this after it was sent. */
  readonly staleAfterMs: number;
  /** No step is carried out when it arrives later than this: nobody would hear of it. */
  readonly lifeMs: number;
  /** The outcomes' `now` was read from the server's clock. */
  readonly ownClock: boolean;
}

/** One `run` of the caller. */
interface Run {
  readonly outcomes: Outcome[];
  left: number;
  readonly resolve: (outcomes: readonly Outcome[]) => void;
  readonly reject: (error: unknown) => void;
}

interface Item {
  readonly run: Run;
  readonly index: number;
  readonly step: Step;
  readonly signal: DeadlineSignal | undefined;
}

/** How a call is made: by the script's hash first, and at most once more after a "too late". */
interface Attempt {
  readonly asText: boolean;
  readonly again: boolean;
}

export type Dispatch = (steps: readonly Step[], signal?: DeadlineSignal) => Promise<readonly Outcome[]>;

/** At most: a marker counts as one more. */
function keysOf(step: Step): number {
  if (step.op === 'adjust') return step.adjustments.length + 1;
  return step.op === 'reset' ? step.ledgers.length : step.charges.length;
}

function charactersOf(parts: readonly string[]): number {
  let sum = 0;
  for (const part of parts) sum += part.length;
  return sum;
}

const fault = (kind: FaultOutcome['fault'], cause: unknown): FaultOutcome => ({ ok: false, fault: kind, cause });

export function createDispatcher(
  rest: Rest,
  program: Program,
  clocks: ServerClocks,
  options: DispatcherOptions,
): Dispatch {
  let gathered: Item[] = [];

  function answer(item: Item, outcome: Outcome): void {
    const { run } = item;
    run.outcomes[item.index] = outcome;
    run.left -= 1;
    if (run.left === 0) run.resolve(run.outcomes);
  }

  function answerAll(items: readonly Item[], outcome: Outcome): void {
    for (const item of items) answer(item, outcome);
  }

  function flush(): void {
    const items = gathered;
    gathered = [];
    let portion: Item[] = [];
    let keys = 0;
    for (const item of items) {
      const more = keysOf(item.step);
      if (portion.length === MAX_STEPS_PER_CALL || (portion.length > 0 && keys + more > MAX_KEYS_PER_CALL)) {
        begin(portion);
        portion = [];
        keys = 0;
      }
      portion.push(item);
      keys += more;
    }
    begin(portion);
  }

  function begin(items: readonly Item[], attempt: Attempt = { asText: false, again: false }): void {
    // Whatever goes wrong in here went wrong after the send, or answers below.
    call(items, attempt).catch((cause: unknown) => {
      for (const item of items)
        if (item.run.outcomes[item.index] === undefined) answer(item, fault('unknown-outcome', cause));
    });
  }

  function deadlineOf({ signal }: Item, now: number): number {
    const latest = now + options.lifeMs;
    if (signal === undefined) return latest;
    return Math.min(latest, signal.deadlineAt ?? now + options.staleAfterMs);
  }

  /** In the server's clock. Before its first answer it is taken to agree with ours: one that does not says "too late", and is known then. */
  function serverDeadline(deadlineAt: number): number {
    const known = clocks.deadline(SERVER, deadlineAt);
    return known ?? Math.max(0, Math.floor(deadlineAt + Date.now() - performance.now()));
  }

  async function call(items: readonly Item[], attempt: Attempt): Promise<void> {
    const now = performance.now();
    let deadlineAt = Number.POSITIVE_INFINITY;
    const live: Item[] = [];
    for (const item of items) {
      if (item.signal?.aborted === true) {
        answer(item, fault('unreachable', item.signal.reason));
        continue;
      }
      deadlineAt = Math.min(deadlineAt, deadlineOf(item, now));
      live.push(item);
    }
    if (live.length === 0) return;
    const steps = live.map((item) => item.step);
    let parts: string[];
    try {
      const { keys, args } = program.encode(steps, serverDeadline(deadlineAt));
      parts = [`${keys.length}`, ...keys, ...args];
    } catch (error) {
      // One caller's mistake is not the others' fault.
      if (live.length === 1) live[0]?.run.reject(error);
      else for (const item of live) begin([item], attempt);
      return;
    }
    if (live.length > 1 && charactersOf(parts) > MAX_CALL_CHARACTERS) {
      const middle = live.length >> 1;
      begin(live.slice(0, middle), attempt);
      begin(live.slice(middle), attempt);
      return;
    }
    const head = attempt.asText ? ['EVAL', program.script] : ['EVALSHA', program.sha1];
    receive(live, steps, attempt, await rest.send([...head, ...parts]));
  }

  function receive(items: readonly Item[], steps: readonly Step[], attempt: Attempt, reply: Reply): void {
    if (reply.kind === 'fault') {
      answerAll(items, fault(reply.fault, reply.cause));
    } else if (reply.kind === 'error') {
      recover(items, attempt, reply.message);
    } else {
      const outcomes = program.decode(reply.result, steps);
      const told = options.ownClock ? outcomes.find((outcome) => outcome.ok) : undefined;
      if (told?.ok === true) clocks.learn(SERVER, told.now);
      for (let i = 0; i < items.length; i += 1) answer(items[i] as Item, outcomes[i] as Outcome);
    }
  }

  function recover(items: readonly Item[], attempt: Attempt, message: string): void {
    const late = lateAt(message);
    if (message.startsWith('NOSCRIPT') && !attempt.asText) {
      begin(items, { ...attempt, asText: true });
    } else if (late !== undefined) {
      arrivedLate(items, attempt, late);
    } else {
      answerAll(items, fault(faultOfError(message), new Error(message)));
    }
  }

  /** Nothing ran. Whoever has time left tries once more, now that the server's clock is known. */
  function arrivedLate(items: readonly Item[], attempt: Attempt, serverMs: number): void {
    clocks.learn(SERVER, serverMs);
    const now = performance.now();
    const inTime: Item[] = [];
    for (const item of items) {
      const gaveUp = item.signal?.aborted === true || (item.signal?.deadlineAt ?? Number.POSITIVE_INFINITY) <= now;
      if (!attempt.again && !gaveUp) inTime.push(item);
      else
        answer(
          item,
          fault('unreachable', new Error('the call reached Redis after its deadline; it was not carried out')),
        );
    }
    if (inTime.length > 0) begin(inTime, { ...attempt, again: true });
  }

  return (steps, signal) => {
    if (steps.length === 0) return Promise.resolve([]);
    if (signal?.aborted === true) return Promise.resolve(steps.map(() => fault('unreachable', signal.reason)));
    return new Promise((resolve, reject) => {
      const run: Run = { outcomes: new Array(steps.length), left: steps.length, resolve, reject };
      if (gathered.length === 0) queueMicrotask(flush);
      for (const [index, step] of steps.entries()) gathered.push({ run, index, step, signal });
    });
  };
}
