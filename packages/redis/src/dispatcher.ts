/**
 * From steps to script calls. The steps of one tick travel in one call; each is judged as if alone and answered alone. A
 * step waits here while its server is not ready, and leaves when its signal aborts: what has left is never sent. What has
 * been sent is sent once, with two exceptions that prove that nothing ran: NOSCRIPT, and the deadline header's "too late"
 * after which the caller is found to have time left (the server's clock was not where it was thought to be).
 */
import type { DeadlineSignal, Outcome, Step } from '@limiter/core';
import { lateAt, MAX_KEYS_PER_CALL, MAX_STEPS_PER_CALL, type Program, type ServerClocks } from '@limiter/redis-lua';
import { messageOf, sendFault, unknownOutcome, unreachable } from './faults.js';
import type { Lane, Link } from './link.js';
import { NotSent } from './link.js';
import { type Waiting, waitingRoom } from './waiting.js';

/** A link that owes an answer for this long gets nothing more to do: what is not sent can still be taken back. */
const SILENT_MS = 100;
/** While steps wait, their connections are asked for this often. */
const URGE_MS = 100;
/** Where replies do not tell the server's clock, it is asked for this often. */
const CLOCK_MS = 1000;

/** One `run` of the caller. */
interface Run {
  readonly outcomes: Outcome[];
  left: number;
  readonly resolve: (outcomes: readonly Outcome[]) => void;
  readonly reject: (error: unknown) => void;
}

export interface Item {
  readonly run: Run;
  readonly index: number;
  readonly step: Step;
  readonly slot: number;
  readonly signal: DeadlineSignal | undefined;
}

export interface DispatcherOptions {
  /** A step whose signal does not say when it will abort is not carried out when it arrives later than this after it was sent. */
  readonly staleAfterMs: number;
  /** The slot of a step; throws a LimiterError when there is none. Only asked on a cluster. */
  readonly slotOf: (step: Step) => number;
  /** Asks the server of a lane for its time; undefined where the outcomes' `now` is that server's own. Never rejects. */
  readonly askClock: ((lane: Lane) => void) | undefined;
}

export interface Dispatcher {
  run(steps: readonly Step[], signal?: DeadlineSignal): Promise<readonly Outcome[]>;
  /** A lane may have become ready. */
  changed(): void;
  /** Answers what is not sent yet, waits a little for what is. */
  close(): Promise<void>;
}

interface Traffic {
  inFlight: number;
  /** performance.now() of the last question for the server's clock. */
  clockAt: number;
  /** performance.now() of the last reply, or of the first send after a quiet time. */
  heardAt: number;
}

/** At most: a marker counts as one more. */
function keysOf(step: Step): number {
  if (step.op === 'adjust') return step.adjustments.length + 1;
  return step.op === 'reset' ? step.ledgers.length : step.charges.length;
}

export function createDispatcher(
  link: Link,
  program: Program,
  clocks: ServerClocks,
  options: DispatcherOptions,
): Dispatcher {
  const traffic = new Map<string, Traffic>();
  let gathered: Item[] = [];
  let scheduled = false;
  let pending = 0;
  let inFlight = 0;
  let renewedAt = Number.NEGATIVE_INFINITY;
  let closed = false;
  let urging: NodeJS.Timeout | undefined;
  let drained: (() => void) | undefined;
  const waiting: Waiting = waitingRoom(
    (item, cause) => answer(item, unreachable(cause)),
    () => link.trouble,
  );

  function answer(item: Item, outcome: Outcome): void {
    const { run } = item;
    run.outcomes[item.index] = outcome;
    run.left -= 1;
    if (run.left === 0) {
      settle();
      run.resolve(run.outcomes);
    }
  }

  function settle(): void {
    pending -= 1;
    if (pending === 0) link.hold(false);
  }

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    // Alone, a step leaves at once. While others are under way it waits for the end of this turn of the event loop, which
    // gathers what other sockets' events ask in the same turn.
    if (inFlight === 0) queueMicrotask(flush);
    else setImmediate(flush);
  }

  function flush(): void {
    scheduled = false;
    const items = gathered;
    gathered = [];
    if (!link.cluster) {
      dispatch(0, items);
      return;
    }
    const slots = new Map<number, Item[]>();
    for (const item of items) {
      const same = slots.get(item.slot);
      if (same === undefined) slots.set(item.slot, [item]);
      else same.push(item);
    }
    for (const [slot, same] of slots) dispatch(slot, same);
  }

  function dispatch(slot: number, items: readonly Item[]): void {
    const lane = link.lane(slot);
    if (!lane.ready || isSilent(lane)) {
      wait(items);
      return;
    }
    let portion: Item[] = [];
    let keys = 0;
    for (const item of items) {
      const more = keysOf(item.step);
      if (portion.length === MAX_STEPS_PER_CALL || (portion.length > 0 && keys + more > MAX_KEYS_PER_CALL)) {
        send(lane, portion, false);
        portion = [];
        keys = 0;
      }
      portion.push(item);
      keys += more;
    }
    send(lane, portion, false);
  }

  function wait(items: readonly Item[]): void {
    for (const item of items) waiting.enter(item);
    urge();
    urging ??= setInterval(urge, URGE_MS);
  }

  /** Asks for a connection for whoever waits, again and again: what serves a slot may change while one waits. */
  function urge(): void {
    const slots = waiting.slots();
    for (const slot of slots) link.open(slot);
    if (slots.size > 0) {
      changed();
    } else if (urging !== undefined) {
      clearInterval(urging);
      urging = undefined;
    }
  }

  function isSilent(lane: Lane): boolean {
    const lines = traffic.get(lane.name);
    return lines !== undefined && lines.inFlight > 0 && performance.now() - lines.heardAt > SILENT_MS;
  }

  function deadlineOf(item: Item, now: number): number {
    if (item.signal === undefined) return Number.POSITIVE_INFINITY;
    return item.signal.deadlineAt ?? now + options.staleAfterMs;
  }

  function send(lane: Lane, items: readonly Item[], again: boolean): void {
    const now = performance.now();
    let deadlineAt = Number.POSITIVE_INFINITY;
    const live: Item[] = [];
    for (const item of items) {
      if (item.signal?.aborted === true) {
        answer(item, unreachable(item.signal.reason));
        continue;
      }
      deadlineAt = Math.min(deadlineAt, deadlineOf(item, now));
      live.push(item);
    }
    if (live.length === 0) return;
    const steps = live.map((item) => item.step);
    let parts: string[];
    try {
      const { keys, args } = program.encode(steps, clocks.deadline(lane.name, deadlineAt));
      parts = [String(keys.length), ...keys, ...args];
    } catch (error) {
      // One caller's mistake is not the others' fault.
      if (live.length === 1) fail(live[0] as Item, error);
      else for (const item of live) send(lane, [item], again);
      return;
    }
    call(lane, 'evalsha', program.sha1, parts, {
      reply: (reply) => receive(lane, live, steps, reply),
      error: (error) => recover(lane, live, parts, error, again),
    });
  }

  /** A step that cannot even be written down: the caller's mistake, and nothing was sent. */
  function fail(item: Item, error: unknown): void {
    if (item.run.left <= 0) return;
    item.run.left = -1;
    settle();
    item.run.reject(error);
  }

  function call(
    lane: Lane,
    command: string,
    script: string,
    parts: readonly string[],
    then: { readonly reply: (reply: unknown) => void; readonly error: (error: unknown) => void },
  ): void {
    let lines = traffic.get(lane.name);
    if (lines === undefined) {
      lines = { inFlight: 0, heardAt: 0, clockAt: performance.now() };
      traffic.set(lane.name, lines);
    }
    const own = lines;
    const now = performance.now();
    if (own.inFlight === 0) own.heardAt = now;
    if (options.askClock !== undefined && now - own.clockAt > CLOCK_MS) {
      own.clockAt = now;
      options.askClock(lane);
    }
    own.inFlight += 1;
    inFlight += 1;
    const done = (): void => {
      own.inFlight -= 1;
      own.heardAt = performance.now();
      inFlight -= 1;
      if (waiting.size > 0) changed();
      if (inFlight === 0) drained?.();
    };
    lane.send(command, [script, ...parts]).then(
      (reply) => {
        then.reply(reply);
        done();
      },
      (error: unknown) => {
        then.error(error);
        done();
      },
    );
  }

  function receive(lane: Lane, items: readonly Item[], steps: readonly Step[], reply: unknown): void {
    let outcomes: readonly Outcome[];
    try {
      outcomes = program.decode(reply, steps);
    } catch (error) {
      for (const item of items) answer(item, unknownOutcome(error));
      return;
    }
    if (options.askClock === undefined) {
      const told = outcomes.find((outcome) => outcome.ok);
      if (told?.ok === true) clocks.learn(lane.name, told.now);
    }
    for (let i = 0; i < items.length; i += 1) answer(items[i] as Item, outcomes[i] as Outcome);
  }

  function recover(lane: Lane, items: readonly Item[], parts: readonly string[], error: unknown, again: boolean): void {
    const message = messageOf(error);
    const isReply = link.isReply(error);
    const late = isReply ? lateAt(message) : undefined;
    if (isReply && message.startsWith('NOSCRIPT')) {
      evaluateText(lane, items, parts, again);
    } else if (late !== undefined) {
      arrivedLate(lane, items, late, again);
    } else if (error instanceof NotSent && !closed) {
      wait(items);
    } else {
      for (const item of items) answer(item, sendFault(error, isReply));
      if (isReply && message.startsWith('READONLY')) renew();
    }
  }

  /** The server does not have the script (any more): nothing ran, so it is sent as text, once. */
  function evaluateText(lane: Lane, items: readonly Item[], parts: readonly string[], again: boolean): void {
    // Somebody gave up meanwhile: the call is made anew without his step, and meets the same answer.
    if (items.some((item) => item.signal?.aborted === true)) {
      send(lane, items, again);
      return;
    }
    const steps = items.map((item) => item.step);
    call(lane, 'eval', program.script, parts, {
      reply: (reply) => receive(lane, items, steps, reply),
      error: (error) => recover(lane, items, parts, error, again),
    });
  }

  /** Nothing ran. Whoever has time left tries once more, now that the server's clock is known. */
  function arrivedLate(lane: Lane, items: readonly Item[], serverMs: number, again: boolean): void {
    clocks.learn(lane.name, serverMs);
    const now = performance.now();
    const cause = new Error('The call reached Redis after its deadline and was not carried out');
    const inTime: Item[] = [];
    for (const item of items) {
      const gaveUp = item.signal?.aborted === true || (item.signal?.deadlineAt ?? Number.POSITIVE_INFINITY) <= now;
      if (again || gaveUp) answer(item, unreachable(cause));
      else inTime.push(item);
    }
    if (inTime.length > 0) send(lane, inTime, true);
  }

  /** A demoted master answers READONLY for as long as one stays connected to it. What it still owes an answer is waited for. */
  function renew(): void {
    const now = performance.now();
    if (now - renewedAt < 1000) return;
    renewedAt = now;
    const timer = setTimeout(link.renew, inFlight > 1 ? 50 : 0);
    timer.unref();
  }

  function changed(): void {
    if (waiting.size === 0) return;
    const slots = new Map<number, boolean>();
    const ready = (slot: number): boolean => {
      let known = slots.get(slot);
      if (known === undefined) {
        const lane = link.lane(slot);
        known = lane.ready && !isSilent(lane);
        slots.set(slot, known);
      }
      return known;
    };
    const leaving = waiting.leave((item) => ready(item.slot));
    if (leaving.length === 0) return;
    gathered = [...leaving, ...gathered];
    if (!scheduled) flush();
  }

  return {
    run(steps, signal) {
      if (steps.length === 0) return Promise.resolve([]);
      if (closed) return Promise.resolve(steps.map(() => unreachable(new Error('The Redis store is closed'))));
      if (signal?.aborted === true) return Promise.resolve(steps.map(() => unreachable(signal.reason)));
      return new Promise((resolve, reject) => {
        // Throws, and so rejects, before anything is sent.
        const slots = link.cluster ? steps.map(options.slotOf) : undefined;
        const run: Run = { outcomes: new Array(steps.length), left: steps.length, resolve, reject };
        for (let index = 0; index < steps.length; index += 1) {
          gathered.push({ run, index, step: steps[index] as Step, slot: slots?.[index] ?? 0, signal });
        }
        pending += 1;
        if (pending === 1) link.hold(true);
        schedule();
      });
    },
    changed,
    async close() {
      if (closed) return;
      closed = true;
      clearInterval(urging);
      const cause = new Error('The Redis store was closed before the step was sent');
      for (const item of [...waiting.leave(() => true), ...gathered.splice(0)]) answer(item, unreachable(cause));
      if (inFlight > 0) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, 1000);
          drained = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
    },
  };
}
