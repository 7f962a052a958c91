/** One shared timer for everything that waits, oldest first; every wait has the same length, so the order never changes. */
import { afterTurns, setQuietTimer, type Timer, timersAreShared } from './time.js';

/** One call that waits for its answer. */
export interface Waiting {
  /** Called once when time is up, unless `forget` came first. */
  giveUp(): void;
}

interface Entry {
  readonly dueAt: number;
  readonly controller: AbortController;
  timer?: Timer;
}

/** An AbortSignal is dear (2.4 us on Node 20), so calls of one millisecond share one; Node warns above 10 listeners. */
const CALLS_PER_SIGNAL = 10;

/** A timer that is this late says that the event loop stood still: answers may lie unread, some behind others. */
const STALLED_MS = 5;
const TURNS_AFTER_STALL = 3;

export interface Expiry {
  /** Starts the wait. The signal aborts when time is up, one turn before `giveUp`, so that the store can say what it never sent. */
  wait(waiting: Waiting): AbortSignal;
  /** The answer is there. */
  forget(waiting: Waiting): void;
}

export function createExpiry(timeoutMs: number, now: () => number): Expiry {
  const entries = new Map<Waiting, Entry>();
  let shared: boolean | undefined;
  let armed = false;
  let newest: { readonly controller: AbortController; readonly dueAt: number; calls: number } | undefined;

  function arm(dueAt: number): Timer {
    return setQuietTimer(expire, Math.max(0, Math.ceil(dueAt - now())));
  }

  function armOnce(dueAt: number): void {
    if (armed) return;
    armed = true;
    arm(dueAt);
  }

  function expire(): void {
    armed = false;
    const time = now();
    const due: Waiting[] = [];
    let lateMs = 0;
    for (const [waiting, entry] of entries) {
      // Timers count whole ms and may fire a fraction early.
      if (entry.dueAt > time + 1) {
        if (shared) armOnce(entry.dueAt);
        break;
      }
      lateMs = Math.max(lateMs, time - entry.dueAt);
      due.push(waiting);
    }
    if (due.length > 0) afterTurns(lateMs > STALLED_MS ? TURNS_AFTER_STALL : 1, () => abort(due));
  }

  /** What had arrived has been read. Whoever still waits is told that nothing more may be sent, and gets a turn to say so. */
  function abort(due: readonly Waiting[]): void {
    const open = due.filter((waiting) => entries.has(waiting));
    for (const waiting of open) entries.get(waiting)?.controller.abort();
    if (open.length > 0) afterTurns(1, () => end(open));
  }

  function end(open: readonly Waiting[]): void {
    for (const waiting of open) if (entries.delete(waiting)) waiting.giveUp();
  }

  return {
    wait(waiting) {
      // Asked at the first call: a timer may not be set while a module loads (workerd).
      shared ??= timersAreShared();
      const time = now();
      if (newest === undefined || newest.calls >= CALLS_PER_SIGNAL || !shared || time + timeoutMs - newest.dueAt >= 1) {
        newest = { controller: new AbortController(), dueAt: time + timeoutMs, calls: 0 };
      }
      newest.calls += 1;
      const { controller, dueAt } = newest;
      const entry: Entry = { controller, dueAt };
      entries.set(waiting, entry);
      if (!shared) entry.timer = arm(dueAt);
      else armOnce(dueAt);
      return controller.signal;
    },
    forget(waiting) {
      const entry = entries.get(waiting);
      if (entry?.timer !== undefined) clearTimeout(entry.timer);
      entries.delete(waiting);
    },
  };
}
