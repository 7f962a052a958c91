/** How long a step waits for a lock that somebody else holds. */
const EMPTY = new Int32Array(new SharedArrayBuffer(4));
const IN_VAIN_MS = 1_000;
const SHORT_MS = 2;
const LONGEST_PAUSE_MS = 2;

export interface Patience {
  /** Until when (performance.now()) a step that has just met a lock may wait. */
  until(): number;
  /** It waited and got nothing: for a second, or until somebody gets it, others wait 2 ms at most. Else a dead lock would stall every caller. */
  inVain(): void;
  /** The lock was got. */
  rewarded(): void;
}

export function createPatience(busyTimeoutMs: number): Patience {
  let inVainAt = Number.NEGATIVE_INFINITY;
  return {
    until() {
      const now = performance.now();
      return now + (now - inVainAt < IN_VAIN_MS ? Math.min(SHORT_MS, busyTimeoutMs) : busyTimeoutMs);
    },
    inVain() {
      inVainAt = performance.now();
    },
    rewarded() {
      inVainAt = Number.NEGATIVE_INFINITY;
    },
  };
}

/**
 * How long to pause before the next try: longer from try to try, and never in step with another process. SQLite's own
 * busy handler pauses 1, 2, 5, 10, 15, 20 ms: seven tries in 50 ms, which four busy processes can all spoil.
 */
export function pauseMs(tries: number): number {
  return Math.random() * Math.min(LONGEST_PAUSE_MS, 0.1 * tries);
}

/** Holds the thread: a synchronous decision has nowhere else to go. */
export function pause(tries: number): void {
  Atomics.wait(EMPTY, 0, 0, pauseMs(tries));
}
