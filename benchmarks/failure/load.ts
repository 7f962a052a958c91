/**
 * Questions in flight, always the same number, and what became of each. Three of four are about 100 hot keys whose budget is soon used up, so that
 * every admission beyond the policy shows; the rest are about keys of their own, so that there is always something to write.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

export const HOT_KEYS = 100;
export const LIMIT = 100;
/** Recovery is told to this. */
export const SLICE_MS = 50;

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
  /** Answers since the healing, in slices of `SLICE_MS`. */
  readonly healing: { own: number; foreign: number }[];
}

export interface Load {
  readonly observed: Observed;
  /** Asks nothing more and waits for what is in flight, at most `patienceMs`. */
  stop(patienceMs: number): Promise<void>;
}

export function startLoad(ask: Ask, flight: number): Load {
  const observed: Observed = {
    struckAt: Number.POSITIVE_INFINITY,
    healedAt: Number.POSITIVE_INFINITY,
    latencies: [],
    decisionsInTrouble: 0,
    admittedHot: 0,
    thrown: 0,
    healing: [],
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
    if (now < observed.healedAt) return;
    const at = Math.floor((now - observed.healedAt) / SLICE_MS);
    observed.healing[at] ??= { own: 0, foreign: 0 };
    observed.healing[at][answer?.byStore === true ? 'own' : 'foreign'] += 1;
  }

  async function worker(id: number): Promise<void> {
    while (running) {
      const i = next++;
      const hot = i % 4 !== 0;
      const askedAt = performance.now();
      open.set(id, askedAt);
      try {
        ended(hot, askedAt, await ask(hot ? `hot:${(i - Math.ceil(i / 4)) % HOT_KEYS}` : `own:${i}`));
      } catch {
        ended(hot, askedAt, undefined);
      }
      open.delete(id);
      // An answer without a wait must not starve the sockets.
      await nextTurn();
    }
  }
  const workers = Promise.all(Array.from({ length: flight }, (_, id) => worker(id)));
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
