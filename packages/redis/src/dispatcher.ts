/**
 * From steps to script calls. The steps of one tick travel in one call, or in a few when they are many; each is judged as if alone and answered alone. A
 * step waits here while its server is not ready, and leaves when its signal aborts: what has left is never sent.
 */
import type { Asking, DeadlineSignal, Outcome, Step } from '@limiter/core';
import { MAX_KEYS_PER_CALL, MAX_STEPS_PER_CALL, type Program, type ServerClocks } from '@limiter/redis-lua';
import { unreachable } from './faults.js';
import { type Item, Run } from './item.js';
import type { Link } from './link.js';
import { createSender, type SenderOptions } from './sender.js';
import { waitingRoom } from './waiting.js';

/**
 * What is asked at once travels in about two calls, so that the server decides one while the answers of the other are handed out and
 * their callers ask again. One large call would leave each of the two idle while the other works (a third slower with 256 under way);
 * more calls cost both sides more (a tenth slower with four).
 */
const CALLS_AT_ONCE = 2;
const LEAST_PORTION = 32;

/** While steps wait, their connections are asked for this often. */
const URGE_MS = 100;
/** After so long without a call the connection no longer keeps the process alive. */
const REST_MS = 50;
/** How long close() waits for what was sent. */
const CLOSE_MS = 1000;

export interface DispatcherOptions extends SenderOptions {
  /** A step whose signal does not say when it will abort is not carried out when it arrives later than this after it was sent. */
  readonly staleAfterMs: number;
  /** The slot of a step; throws a LimiterError when there is none. Only asked on a cluster. */
  readonly slotOf: (step: Step) => number;
}

export interface Dispatcher {
  run(steps: readonly Step[], signal?: DeadlineSignal): Promise<readonly Outcome[]>;
  ask(asking: Asking): void;
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

/** A promise's microtask is cheaper than queueMicrotask's, which keeps an asynchronous context. */
const endOfTick: Promise<void> = Promise.resolve();

export function createDispatcher(
  link: Link,
  program: Program,
  clocks: ServerClocks,
  options: DispatcherOptions,
): Dispatcher {
  let gathered: Item[] = [];
  /** On a cluster: of each that is gathered. */
  let slots: number[] = [];
  let scheduled = false;
  /** Steps that are not answered yet. */
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
      settle();
      item.fail(error);
    },
    unsent(items, slot, error) {
      if (closed) for (const item of items) answer(item, unreachable(error));
      else wait(items, slot);
    },
    settled() {
      if (waiting.size > 0) changed();
      if (sender.inFlight === 0) drained?.();
    },
  });

  function answer(item: Item, outcome: Outcome): void {
    settle();
    item.answer(outcome);
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
    if (sender.inFlight === 0) void endOfTick.then(flush);
    else setImmediate(flush);
  }

  function gather(item: Item, slot: number): void {
    gathered.push(item);
    if (link.cluster) slots.push(slot);
    pending += 1;
    if (!held) {
      held = true;
      link.hold(true);
    }
    schedule();
  }

  function flush(): void {
    scheduled = false;
    const items = gathered;
    gathered = [];
    if (!link.cluster) {
      dispatch(items, 0);
      return;
    }
    const bySlot = new Map<number, Item[]>();
    for (let i = 0; i < items.length; i += 1) {
      const item = items[i] as Item;
      const slot = slots[i] as number;
      const same = bySlot.get(slot);
      if (same === undefined) bySlot.set(slot, [item]);
      else same.push(item);
    }
    slots = [];
    for (const [slot, same] of bySlot) dispatch(same, slot);
  }

  function dispatch(items: readonly Item[], slot: number): void {
    const lane = link.lane(slot);
    if (!lane.ready || sender.isSilent(lane)) {
      wait(items, slot);
      return;
    }
    const most = Math.min(MAX_STEPS_PER_CALL, Math.max(LEAST_PORTION, Math.ceil(pending / CALLS_AT_ONCE)));
    let first = 0;
    let keys = 0;
    for (let i = 0; i < items.length; i += 1) {
      const more = keysOf((items[i] as Item).step);
      if (i > first && (i - first === most || keys + more > MAX_KEYS_PER_CALL)) {
        sender.send(lane, slot, items.slice(first, i));
        first = i;
        keys = 0;
      }
      keys += more;
    }
    sender.send(lane, slot, first === 0 ? items : items.slice(first));
  }

  function wait(items: readonly Item[], slot: number): void {
    for (const item of items) waiting.enter(item, slot);
    for (const wanted of waiting.slots()) link.open(wanted);
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
    const known = new Map<number, boolean>();
    const ready = (slot: number): boolean => {
      let isReady = known.get(slot);
      if (isReady === undefined) {
        const lane = link.lane(slot);
        isReady = lane.ready && !sender.isSilent(lane);
        known.set(slot, isReady);
      }
      return isReady;
    };
    const leaving = waiting.leave(ready);
    if (leaving.length === 0) return;
    gathered = [...leaving.map(([item]) => item), ...gathered];
    if (link.cluster) slots = [...leaving.map(([, slot]) => slot), ...slots];
    if (!scheduled) flush();
  }

  return {
    run(steps, signal) {
      if (steps.length === 0) return Promise.resolve([]);
      if (closed) return Promise.resolve(steps.map(() => unreachable(new Error('The Redis store is closed'))));
      if (signal?.aborted === true) return Promise.resolve(steps.map(() => unreachable(signal.reason)));
      return new Promise((resolve, reject) => {
        // Before anything is gathered: a mistake in one step is one in the whole run.
        const at = link.cluster ? steps.map(options.slotOf) : undefined;
        const { items } = new Run(steps, signal, options.staleAfterMs, resolve, reject);
        for (let i = 0; i < items.length; i += 1) gather(items[i] as Item, at?.[i] ?? 0);
      });
    },
    ask(asking) {
      if (closed) asking.answer(unreachable(new Error('The Redis store is closed')));
      else if (asking.aborted) asking.answer(unreachable(asking.reason));
      else gather(asking, link.cluster ? options.slotOf(asking.step) : 0);
    },
    changed,
    async close() {
      if (closed) return;
      closed = true;
      clearTimeout(resting);
      clearInterval(urging);
      const cause = new Error('The Redis store was closed before the step was sent');
      for (const [item] of waiting.leave(() => true)) answer(item, unreachable(cause));
      for (const item of gathered.splice(0)) answer(item, unreachable(cause));
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
