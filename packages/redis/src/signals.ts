/** Listeners to AbortSignals: one a signal, however many steps share it, because Node warns of more than ten. */

interface Watched {
  readonly listeners: Set<() => void>;
  readonly tell: () => void;
}

const watched = new WeakMap<AbortSignal, Watched>();

/** `listener` is called once, when the signal aborts, unless it is taken away before. */
export function watch(signal: AbortSignal, listener: () => void): void {
  const known = watched.get(signal);
  if (known !== undefined) {
    known.listeners.add(listener);
    return;
  }
  const listeners = new Set([listener]);
  const tell = (): void => {
    watched.delete(signal);
    for (const one of listeners) one();
  };
  watched.set(signal, { listeners, tell });
  signal.addEventListener('abort', tell, { once: true });
}

export function unwatch(signal: AbortSignal, listener: () => void): void {
  const known = watched.get(signal);
  if (known === undefined) return;
  known.listeners.delete(listener);
  if (known.listeners.size > 0) return;
  watched.delete(signal);
  signal.removeEventListener('abort', known.tell);
}
