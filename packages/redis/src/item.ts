/** One step of one caller, on its way. */
import type { DeadlineSignal, Outcome, Step } from '@limiter/core';

/** One `run` of the caller. */
export interface Run {
  readonly outcomes: Outcome[];
  /** Steps without an outcome. */
  left: number;
  readonly resolve: (outcomes: readonly Outcome[]) => void;
  readonly reject: (error: unknown) => void;
}

export interface Item {
  readonly run: Run;
  readonly index: number;
  readonly step: Step;
  readonly slot: number;
  readonly signal: DeadlineSignal | undefined;
}

/** Does anybody still wait for it? */
export function timeLeft({ signal }: Item, now: number): boolean {
  if (signal === undefined) return true;
  return !signal.aborted && (signal.deadlineAt === undefined || signal.deadlineAt > now);
}
