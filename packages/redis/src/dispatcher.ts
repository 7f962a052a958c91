/**
 * From steps to script calls. The steps of one tick travel in one call, or in a few when they are many; each is judged as if alone and answered alone. A
 * step waits here while its server is not ready, and leaves when its signal aborts: what has left is never sent.
 */
import type { DeadlineSignal, Outcome, Step } from '@limiter/core';
import { MAX_KEYS_PER_CALL, MAX_STEPS_PER_CALL, type Program, type ServerClocks } from '@limiter/redis-lua';
import { unreachable } from './faults.js';
import type { Item, Run } from './item.js';
import type { Link } from './link.js';
import { createSender, type SenderOptions } from './sender.js';
import { waitingRoom } from './waiting.js';

/**
 * What one turn asks travels in a few calls, so that the server decides one while the next is written and the answers of the
 * last are handed out: half as many decisions a second again as in one large call.
 */
const PORTIONS = 4;
const LEAST_PORTION = 32;

/** While steps wait, their connections are asked for this often. */
const URGE_MS = 100;
/** After so long without a call the connection no longer keeps the process alive. */
const REST_MS = 50;
/** How long close() waits for what was sent. */
const CLOSE_MS = 1000;

export interface DispatcherOptions extends SenderOptions {
  /** The slot of a step; throws a LimiterError when there is none. Only asked on a cluster. */
  readonly slotOf: (step: Step) => number;
}

export interface Dispatcher {
  run(steps: readonly Step[], signal?: DeadlineSignal): Promise<readonly Outcome[]>;
  /** A lane may have become ready. */
  changed(): void;
  /** Answers what is not sent yet, waits a little for what is. */
  close(): Promise<void>;
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
  let gathered: Item[] = [];
  let scheduled = false;
  let pending = 0;
  let closed = false;
  let held = false;
  let resting: NodeJS.Timeout | undefined;
  let urging: NodeJS.Timeout | undefined;
  let drained: (() => void) | undefined;
  const waiting = waitingRoom(
    (item, cause) => answer(item, unreachable(cause)),
    () => link.trouble,
  );
  const sender = createSender(link, program, clocks, options, {
    answer,
    fail(item, error) {
      if (item.run.left <= 0) return;
      item.run.left = -1;
      settle();
      item.run.reject(error);
    },
    unsent(items, error) {
      if (closed) for (const item of items) answer(item, unreachable(error));
      else wait(items);
    },
    settled() {
      if (waiting.size > 0) changed();
      if (sender.inFlight === 0) drained?.();
    },
  });

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
    if (pending > 0 || resting !== undefined) return;
    // Not at once: calls that follow each other would pay for it every time.
    resting = setTimeout(rest, REST_MS);
    resting.unref();
  }

  function rest(): void {
    resting = undefined;
    if (pending > 0) return;
    held = false;
    link.hold(false);
  }

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    // Alone, a step leaves at once. While others are under way it waits for the end of this turn of the event loop, which
    // gathers what other sockets' events ask in the same turn.
    if (sender.inFlight === 0) queueMicrotask(flush);
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
    if (!lane.ready || sender.isSilent(lane)) {
      wait(items);
      return;
    }
    const most = Math.min(MAX_STEPS_PER_CALL, Math.max(LEAST_PORTION, Math.ceil(items.length / PORTIONS)));
    let portion: Item[] = [];
    let keys = 0;
    for (const item of items) {
      const more = keysOf(item.step);
      if (portion.length === most || (portion.length > 0 && keys + more > MAX_KEYS_PER_CALL)) {
        sender.send(lane, portion);
        portion = [];
        keys = 0;
      }
      portion.push(item);
      keys += more;
    }
    sender.send(lane, portion);
  }

  function wait(items: readonly Item[]): void {
    for (const item of items) waiting.enter(item);
    for (const slot of waiting.slots()) link.open(slot);
    if (waiting.size > 0) urging ??= setInterval(urge, URGE_MS);
  }

  /** Asks for a connection for whoever waits, again and again: what serves a slot may change while one waits. */
  function urge(): void {
    for (const slot of waiting.slots()) link.open(slot);
    changed();
    if (waiting.size > 0) return;
    clearInterval(urging);
    urging = undefined;
  }

  function changed(): void {
    if (waiting.size === 0) return;
    const slots = new Map<number, boolean>();
    const ready = (slot: number): boolean => {
      let known = slots.get(slot);
      if (known === undefined) {
        const lane = link.lane(slot);
        known = lane.ready && !sender.isSilent(lane);
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
        if (!held) {
          held = true;
          link.hold(true);
        }
        schedule();
      });
    },
    changed,
    async close() {
      if (closed) return;
      closed = true;
      clearTimeout(resting);
      clearInterval(urging);
      const cause = new Error('The Redis store was closed before the step was sent');
      for (const item of [...waiting.leave(() => true), ...gathered.splice(0)]) answer(item, unreachable(cause));
      if (sender.inFlight === 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, CLOSE_MS);
        drained = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
  };
}
