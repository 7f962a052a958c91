/** Steps that cannot be sent yet, in the order in which they came. Each leaves when its lane is ready, or when its signal aborts. */
import type { Item } from './item.js';

/** How long a step without a signal waits: nobody else would ever let it go. */
const PATIENCE_MS = 5000;

export interface Waiting {
  readonly size: number;
  /** The slots that somebody waits for. */
  slots(): ReadonlySet<number>;
  enter(item: Item): void;
  /** Takes out, in order, those for whom `may` holds. */
  leave(may: (item: Item) => boolean): Item[];
}

/**
 * @param giveUp called for a step that leaves unsent.
 * @param trouble why the connection is not there.
 */
export function waitingRoom(giveUp: (item: Item, cause: unknown) => void, trouble: () => unknown): Waiting {
  const items = new Set<Item>();
  // One listener a signal: a signal may be shared by many steps.
  const bySignal = new Map<AbortSignal, { readonly steps: Set<Item>; readonly listener: () => void }>();
  const since = new Map<Item, number>();
  let timer: NodeJS.Timeout | undefined;

  function notReached(reason: unknown): Error {
    return new Error('Redis was not reached in time; the step was not sent', { cause: trouble() ?? reason });
  }

  function watch(signal: AbortSignal, item: Item): void {
    const known = bySignal.get(signal);
    if (known !== undefined) {
      known.steps.add(item);
      return;
    }
    const steps = new Set([item]);
    const listener = (): void => {
      bySignal.delete(signal);
      for (const step of steps) {
        items.delete(step);
        giveUp(step, notReached(signal.reason));
      }
    };
    bySignal.set(signal, { steps, listener });
    signal.addEventListener('abort', listener, { once: true });
  }

  function unwatch(signal: AbortSignal, item: Item): void {
    const known = bySignal.get(signal);
    if (known === undefined) return;
    known.steps.delete(item);
    if (known.steps.size > 0) return;
    bySignal.delete(signal);
    signal.removeEventListener('abort', known.listener);
  }

  function losePatience(): void {
    timer = undefined;
    const now = performance.now();
    for (const [item, at] of since) {
      if (now - at < PATIENCE_MS) continue;
      since.delete(item);
      items.delete(item);
      giveUp(item, notReached(undefined));
    }
    wait();
  }

  function wait(): void {
    const first = since.values().next().value;
    if (timer !== undefined || first === undefined) return;
    timer = setTimeout(losePatience, Math.max(1, Math.ceil(first + PATIENCE_MS - performance.now())));
  }

  return {
    get size() {
      return items.size;
    },
    slots: () => new Set([...items].map(({ slot }) => slot)),
    enter(item) {
      if (item.signal?.aborted === true) {
        giveUp(item, item.signal.reason);
        return;
      }
      items.add(item);
      if (item.signal !== undefined) {
        watch(item.signal, item);
      } else {
        since.set(item, performance.now());
        wait();
      }
    },
    leave(may) {
      const leaving: Item[] = [];
      for (const item of items) {
        if (!may(item)) continue;
        items.delete(item);
        since.delete(item);
        if (item.signal !== undefined) unwatch(item.signal, item);
        leaving.push(item);
      }
      if (since.size === 0 && timer !== undefined) {
        clearTimeout(timer);
        timer = undefined;
      }
      return leaving;
    },
  };
}
