/**
 * The asynchronous form: the steps that arrive in one turn of the event loop share a transaction, in their order and each
 * as if alone. One COMMIT for all of them is most of what a decision costs.
 */
import { setImmediate, setTimeout } from 'node:timers';
import type { Outcome, Step } from '@limiter/core';
import { CommitUnknown, faultOutcome, isBusy } from './faults.js';
import { type Patience, pauseMs } from './patience.js';

/** The lock is let go after so many steps, so that other processes get their turn: about 2 ms. */
const STEPS_A_TRANSACTION = 256;

/** One call of `run`. */
interface Call {
  readonly signal: AbortSignal | undefined;
  readonly outcomes: Outcome[];
  missing: number;
  readonly resolve: (outcomes: readonly Outcome[]) => void;
  readonly reject: (error: unknown) => void;
}

/** One of its steps. */
interface Ticket {
  readonly call: Call;
  readonly place: number;
  readonly step: Step;
}

export interface Tick {
  run(steps: readonly Step[], signal: AbortSignal | undefined): Promise<readonly Outcome[]>;
  /** Resolves when everything that was asked has been answered. */
  settled(): Promise<void>;
}

export interface TickOptions {
  /** All of them in one transaction. @throws as `transact` */
  readonly together: (steps: readonly Step[], again: boolean) => readonly Outcome[];
  /** One in a transaction of its own, waiting for a lock until then. @throws LimiterError */
  readonly alone: (step: Step, until: number) => Outcome;
  readonly patience: Patience;
}

export function createTick({ together, alone, patience }: TickOptions): Tick {
  let queue: Ticket[] = [];
  let draining: Promise<void> | undefined;

  function run(steps: readonly Step[], signal: AbortSignal | undefined): Promise<readonly Outcome[]> {
    return new Promise((resolve, reject) => {
      const call: Call = { signal, outcomes: [], missing: steps.length, resolve, reject };
      if (call.missing === 0) resolve(call.outcomes);
      for (let place = 0; place < steps.length; place += 1) queue.push({ call, place, step: steps[place] as Step });
      if (queue.length > 0) draining ??= drain();
    });
  }

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      await turn();
      const tickets = queue.slice(0, STEPS_A_TRANSACTION);
      queue = queue.slice(STEPS_A_TRANSACTION);
      await decide(tickets);
    }
    draining = undefined;
  }

  async function decide(asked: readonly Ticket[]): Promise<void> {
    let until: number | undefined;
    for (let tries = 0; ; tries += 1) {
      const tickets = asked.filter(stillWanted);
      if (tickets.length === 0) return;
      const steps = tickets.map(({ step }) => step);
      try {
        const outcomes = together(steps, tries > 0);
        for (let i = 0; i < tickets.length; i += 1) answer(tickets[i] as Ticket, outcomes[i] as Outcome);
        return;
      } catch (error) {
        if (!isBusy(error)) return separately(tickets, error);
        until ??= patience.until();
        if (performance.now() >= until) {
          patience.inVain();
          for (const ticket of tickets) answer(ticket, faultOutcome(error));
          return;
        }
      }
      const ms = pauseMs(tries);
      if (ms > 0) await after(ms);
    }
  }

  /** The transaction failed and did nothing: each step by itself, so that the fault of one is not the fault of all. */
  function separately(tickets: readonly Ticket[], error: unknown): void {
    const again = tickets.length > 1 && !(error instanceof CommitUnknown);
    const until = patience.until();
    for (const ticket of tickets) {
      try {
        answer(ticket, again ? alone(ticket.step, until) : faultOutcome(error));
      } catch (mistake) {
        ticket.call.reject(mistake);
      }
    }
  }

  return {
    run,
    async settled() {
      while (draining !== undefined) await draining;
    },
  };
}

function answer({ call, place }: Ticket, outcome: Outcome): void {
  call.outcomes[place] = outcome;
  call.missing -= 1;
  if (call.missing === 0) call.resolve(call.outcomes);
}

/** A step whose caller has given up before it starts never runs, and says so. */
function stillWanted(ticket: Ticket): boolean {
  const { signal } = ticket.call;
  if (signal?.aborted !== true) return true;
  answer(ticket, { ok: false, fault: 'unreachable', cause: signal.reason });
  return false;
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
const after = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));
