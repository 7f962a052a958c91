/**
 * 256 questions in flight, and what became of each. Three of four are about 100 hot keys whose budget is soon used up, so that
 * every admission beyond the policy shows; the rest are about keys of their own, so that there is always something to write.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

export const HOT_KEYS = 100;
export const LIMIT = 100;
const FLIGHT = 256;

export interface Answer {
  readonly allowed: boolean;
  /** The store decided; not a fallback, an insurance, a policy. */
  readonly byStore: boolean;
}

export type Ask = (key: string) => Promise<Answer>;

export interface Observed {
  /** performance.now() of the strike and of the healing. */
  struckAt: number;
  healedAt: number;
  /** Latencies of the decisions that were asked from the strike on, ms. */
  readonly latencies: number[];
  decisionsInTrouble: number;
  admittedHot: number;
  /** Questions that ended with an exception. */
  thrown: number;
  /** When the last answer came that was not the store's. */
  lastForeignAt: number;
  /** When the store last decided. */
  lastOwnAt: number;
}

export interface Load {
  readonly observed: Observed;
  /** Asks nothing more and waits for what is in flight, at most `patienceMs`. */
  stop(patienceMs: number): Promise<void>;
}

export function startLoad(ask: Ask): Load {
  const observed: Observed = {
    struckAt: Number.POSITIVE_INFINITY,
    healedAt: Number.POSITIVE_INFINITY,
    latencies: [],
    decisionsInTrouble: 0,
    admittedHot: 0,
    thrown: 0,
    lastForeignAt: 0,
    lastOwnAt: 0,
  };
  const open = new Map<number, number>();
  let running = true;
  let next = 0;

  function ended(hot: boolean, askedAt: number, answer: Answer | undefined): void {
    const now = performance.now();
    if (askedAt >= observed.struckAt) observed.latencies.push(now - askedAt);
    if (now >= observed.struckAt && now < observed.healedAt) observed.decisionsInTrouble += 1;
    if (answer === undefined) observed.thrown += 1;
    else if (hot && answer.allowed) observed.admittedHot += 1;
    if (answer?.byStore === true) observed.lastOwnAt = now;
    else observed.lastForeignAt = now;
  }

  async function worker(id: number): Promise<void> {
    while (running) {
      const i = next++;
      const hot = i % 4 !== 0;
      const askedAt = performance.now();
      open.set(id, askedAt);
      try {
        ended(hot, askedAt, await ask(hot ? `hot:${i % HOT_KEYS}` : `own:${i}`));
      } catch {
        ended(hot, askedAt, undefined);
      }
      open.delete(id);
      // An answer without a wait must not starve the sockets.
      await nextTurn();
    }
  }
  const workers = Promise.all(Array.from({ length: FLIGHT }, (_, id) => worker(id)));
  return {
    observed,
    async stop(patienceMs) {
      running = false;
      let clock: NodeJS.Timeout | undefined;
      const enough = new Promise((resolve) => {
        clock = setTimeout(resolve, patienceMs);
      });
      await Promise.race([workers, enough]);
      clearTimeout(clock);
      for (const askedAt of open.values()) observed.latencies.push(performance.now() - askedAt);
    },
  };
}
