/** One shared timer for everything that waits, oldest first; every wait has the same length, so the order never changes. */
import type { DeadlineSignal } from '../store.js';
import { afterTurns, monotonicNow, setQuietTimer, type Timer, timersAreShared } from './time.js';

/** One call that waits for its answer. It is its own place in the queue, so that a call costs one object and no lookup. */
export interface Waiting {
  dueAt: number;
  /** Has it neither been answered nor given up? */
  open: boolean;
  before: Waiting | undefined;
  after: Waiting | undefined;
  timer: Timer | undefined;
  /** Time is up: what was not sent never may be. Not called once `forget` was. Never throws, as others wait behind it. */
  abort(): void;
  /** One turn after `abort`. Called once, unless `forget` came first. */
  giveUp(): void;
}

/** One that shows the store an AbortSignal, which others of the same millisecond may share. */
export interface SignalledWaiting extends Waiting {
  controller: AbortController | undefined;
}

/** An AbortSignal is dear (2.4 us on Node 20), so calls of one millisecond share one; Node warns above 10 listeners. */
const CALLS_PER_SIGNAL = 10;

/** A timer that is this late says that the event loop stood still: answers may lie unread, some behind others. */
const STALLED_MS = 5;
const TURNS_AFTER_STALL = 3;

export interface Expiry {
  /** Starts the wait at `time`. When time is up it is told so, one turn before `giveUp`, so that the store can say what it never sent. */
  wait(waiting: Waiting, time: number): void;
  /** The same for a store that wants a signal; `abort` has to abort the `controller`. */
  signal(waiting: SignalledWaiting, time: number): DeadlineSignal;
  /** The answer is there. */
  forget(waiting: Waiting): void;
}

export function createExpiry(timeoutMs: number, now: () => number): Expiry {
  let oldest: Waiting | undefined;
  let newest: Waiting | undefined;
  let shared: boolean | undefined;
  let armed = false;
  let controller: AbortController | undefined;
  let signalDueAt = Number.NEGATIVE_INFINITY;
  let signalCalls = 0;

  function arm(dueAt: number, callback: () => void): Timer {
    return setQuietTimer(callback, Math.max(0, Math.ceil(dueAt - now())));
  }

  function armOnce(dueAt: number): void {
    if (armed) return;
    armed = true;
    arm(dueAt, expireOldest);
  }

  function expireOldest(): void {
    armed = false;
    const time = now();
    const due: Waiting[] = [];
    // Timers count whole ms and may fire a fraction early.
    let waiting = oldest;
    for (; waiting !== undefined && waiting.dueAt <= time + 1; waiting = waiting.after) due.push(waiting);
    if (waiting !== undefined) armOnce(waiting.dueAt);
    expire(due);
  }

  function expire(due: readonly Waiting[]): void {
    const [first] = due;
    if (first === undefined) return;
    afterTurns(now() - first.dueAt > STALLED_MS ? TURNS_AFTER_STALL : 1, () => abort(due));
  }

  /** What had arrived has been read. Whoever still waits is told that nothing more may be sent, and gets a turn to say so. */
  function abort(due: readonly Waiting[]): void {
    const open = due.filter((waiting) => waiting.open);
    // One that hears it may answer others: a store that sends several steps together drops them together.
    for (const waiting of open) if (waiting.open) waiting.abort();
    if (open.length > 0) afterTurns(1, () => end(open));
  }

  function end(open: readonly Waiting[]): void {
    for (const waiting of open) {
      if (!waiting.open) continue;
      forget(waiting);
      waiting.giveUp();
    }
  }

  function wait(waiting: Waiting, time: number): void {
    // Asked at the first call: a timer may not be set while a module loads (workerd).
    shared ??= timersAreShared();
    start(waiting, time + timeoutMs, shared);
  }

  function start(waiting: Waiting, dueAt: number, isShared: boolean): void {
    waiting.dueAt = dueAt;
    waiting.open = true;
    if (isShared) enqueue(waiting);
    else waiting.timer = arm(dueAt, () => expire([waiting]));
  }

  function signal(waiting: SignalledWaiting, time: number): DeadlineSignal {
    shared ??= timersAreShared();
    const dueAt = time + timeoutMs;
    if (controller === undefined || signalCalls >= CALLS_PER_SIGNAL || !shared || dueAt - signalDueAt >= 1) {
      controller = new AbortController();
      // A stranger's clock says nothing on the one that stores read.
      const deadlineAt = now === monotonicNow ? dueAt : monotonicNow() + timeoutMs;
      Object.assign(controller.signal, { deadlineAt });
      signalDueAt = dueAt;
      signalCalls = 0;
    }
    signalCalls += 1;
    waiting.controller = controller;
    start(waiting, signalDueAt, shared);
    return controller.signal;
  }

  function enqueue(waiting: Waiting): void {
    waiting.before = newest;
    if (newest === undefined) oldest = waiting;
    else newest.after = waiting;
    newest = waiting;
    armOnce(waiting.dueAt);
  }

  function forget(waiting: Waiting): void {
    if (!waiting.open) return;
    waiting.open = false;
    if (waiting.timer !== undefined) clearTimeout(waiting.timer);
    else dequeue(waiting);
  }

  function dequeue(waiting: Waiting): void {
    const { before, after } = waiting;
    if (before === undefined) oldest = after;
    else before.after = after;
    if (after === undefined) newest = before;
    else after.before = before;
    waiting.before = undefined;
    waiting.after = undefined;
  }

  return { wait, signal, forget };
}
