/** Time as the decorators need it: a clock that no step sets back, timers that keep nobody alive, and turns of the event loop. */

/** Milliseconds on a clock that only goes forward where the runtime has one. Its zero means nothing. */
export function monotonicNow(): number {
  return typeof performance === 'object' ? performance.now() : Date.now();
}

interface DenoTimers {
  readonly unrefTimer?: (timer: unknown) => void;
}

/**
 * Can one timer serve calls that belong to different requests? Where timers can be unref'ed (Node, Bun, Deno) they belong
 * to the process. In workerd, which has `unref` too, they belong to the request that set them: they die with it and may
 * touch nothing of another's. So there, and wherever else one cannot know, each call sets its own.
 */
export function timersAreShared(): boolean {
  const { navigator } = globalThis as { readonly navigator?: { readonly userAgent?: string } };
  if (navigator?.userAgent === 'Cloudflare-Workers') return false;
  const timer: unknown = setTimeout(() => {}, 0);
  const shared = typeof timer === 'object' || denoTimers()?.unrefTimer !== undefined;
  clearTimeout(timer as ReturnType<typeof setTimeout>);
  return shared;
}

function denoTimers(): DenoTimers | undefined {
  return (globalThis as { readonly Deno?: DenoTimers }).Deno;
}

export type Timer = ReturnType<typeof setTimeout>;

/** A timer that does not keep the process alive. */
export function setQuietTimer(callback: () => void, waitMs: number): Timer {
  const timer = setTimeout(callback, waitMs);
  if (typeof timer === 'object') timer.unref?.();
  else denoTimers()?.unrefTimer?.(timer);
  return timer;
}

/**
 * Calls back after `turns` turns of the event loop, in each of which what has arrived in the meantime is read. After a timer,
 * Node polls its sockets before it runs immediates, so one turn reads every answer that is already there.
 */
export function afterTurns(turns: number, callback: () => void): void {
  const next = turns > 1 ? () => afterTurns(turns - 1, callback) : callback;
  if (typeof setImmediate === 'function') setImmediate(next);
  else setTimeout(next, 0);
}
