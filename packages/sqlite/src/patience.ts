/** How long a step waits for a lock that somebody else holds. */
const EMPTY = new Int32Array(new SharedArrayBuffer(4));
const IN_VAIN_MS = 1_000;
const SHORT_MS = 2;
const LONGEST_PAUSE_MS = 0.5;
const TRIES_AT_ONCE = 8;

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
 * How long to pause before the next try; 0: not at all. Who asks as fast as it can lets the lock go for microseconds and takes
 * it again: of tries a ms apart fifty can fail, so eight follow each other at once. Then a pause, never in step with
 * another process, in which whoever holds the lock for longer can get on.
 */
export function pauseMs(tries: number): number {
  return tries % TRIES_AT_ONCE === TRIES_AT_ONCE - 1 ? Math.random() * LONGEST_PAUSE_MS : 0;
}

/** Holds the thread: a synchronous decision has nowhere else to go. */
export function pause(ms: number): void {
  Atomics.wait(EMPTY, 0, 0, ms);
}
