/**
 * Never after the deadline, even when the call was sent in time. What was written to a socket cannot be taken back: a server
 * that was stopped, or that is busy, still runs it when it goes on (tried: even a reset connection does not prevent it). So
 * each call carries its deadline in the server's own clock, and the program returns without having looked at a key when that
 * has passed.
 *
 * The server's clock is learnt from its replies. A reply that says `server` and arrives at `local` proves that
 *
 *     server clock - local clock >= server - local        (the reply took some time to arrive)
 *
 * so `deadline + server - local` is a moment that the server's clock reaches no later than the local clock reaches
 * `deadline`. Local time is performance.now(), which no clock step moves.
 */

const LATE = /^LIMITERLATE (\d+)/;

/** The server's time in a reply that says "too late, nothing done"; undefined for every other error. */
export function lateAt(message: string): number | undefined {
  const found = LATE.exec(message);
  return found === null ? undefined : Number(found[1]);
}

/** Beyond this the clock was stepped: what was learnt before means nothing any more. */
const STEP_MS = 2000;

export interface ServerClocks {
  /** `serverMs` was read by the server `name` and has just arrived. */
  learn(name: string, serverMs: number): void;
  /** What is known of this server, if anything. */
  knows(name: string): boolean;
  /** `deadlineAt` (performance.now()) in that server's clock; undefined when there is none or the clock is not known yet. */
  deadline(name: string, deadlineAt: number): number | undefined;
}

export function serverClocks(): ServerClocks {
  const aheadMs = new Map<string, number>();
  return {
    learn(name, serverMs) {
      const sample = Math.floor(serverMs - performance.now());
      const known = aheadMs.get(name);
      // The best bound is the highest one; it sinks slowly towards a lower one, in case the server's clock was set back a little.
      if (known === undefined || sample > known || known - sample > STEP_MS) aheadMs.set(name, sample);
      else if (sample < known) aheadMs.set(name, known - Math.ceil((known - sample) / 8));
    },
    knows: (name) => aheadMs.has(name),
    deadline(name, deadlineAt) {
      const ahead = aheadMs.get(name);
      if (ahead === undefined || deadlineAt === Number.POSITIVE_INFINITY) return undefined;
      return Math.max(0, Math.floor(deadlineAt) + ahead);
    },
  };
}
