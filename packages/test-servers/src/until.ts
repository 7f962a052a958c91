import { setTimeout as sleep } from 'node:timers/promises';

/** Asks every 20 ms until the answer is true; an error counts as "not yet". Throws `what` after `timeoutMs`. */
export async function until(what: string, timeoutMs: number, ask: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  let last: unknown;
  while (Date.now() < deadline) {
    try {
      if (await ask()) return;
    } catch (error) {
      last = error;
    }
    await sleep(20);
  }
  throw new Error(`not within ${timeoutMs} ms: ${what}`, { cause: last });
}
