/** A memory store whose clock is turned by hand. */
import { memoryStore } from '@limiter/memory';

export interface Turnable {
  readonly store: ReturnType<typeof memoryStore>;
  now: number;
}

export function turnable(now = 1_700_000_000_000): Turnable {
  const time = { now };
  return Object.assign(time, { store: memoryStore({ clock: () => time.now }) });
}

/** Runs `work` and gives the error that it throws. */
export function thrownBy(work: () => unknown): { readonly code: string; readonly message: string } {
  try {
    work();
  } catch (error) {
    return error as { readonly code: string; readonly message: string };
  }
  throw new Error('nothing was thrown');
}
