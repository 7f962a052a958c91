/** From what went wrong to what it means: did the step run, and may it run later? */
import type { FaultOutcome } from '@limiter/core';
import { faultOfError } from '@limiter/redis-lua';
import { NotSent } from './link.js';

/** The step has not run and never will. */
export function unreachable(cause: unknown): FaultOutcome {
  return { ok: false, fault: 'unreachable', cause };
}

/** The step was sent and no answer will come. */
export function unknownOutcome(cause: unknown): FaultOutcome {
  return { ok: false, fault: 'unknown-outcome', cause };
}

/**
 * What a failed send means. An error reply is `refused`: nothing was written (OOM, READONLY, BUSY, LOADING, MASTERDOWN, NOREPLICAS,
 * NOAUTH, ...), unless the program itself says that a part was.
 */
export function sendFault(error: unknown, isReply: boolean): FaultOutcome {
  if (isReply) return { ok: false, fault: faultOfError(messageOf(error)), cause: error };
  return error instanceof NotSent ? unreachable(error) : unknownOutcome(error);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
