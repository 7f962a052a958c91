/** Steps that cannot be sent yet, in the order in which they came. Each leaves when its lane is ready, or when it is aborted. */
import type { Item } from './item.js';

/** How long a step without a deadline waits: nobody else would ever let it go. */
const PATIENCE_MS = 5000;

export interface Waiting {
  readonly size: number;
  /** The slots that somebody waits for. */
  slots(): ReadonlySet<number>;
  enter(item: Item, slot: number): void;
  /** Takes out, in order, those for whose slot `may` holds; each with its slot. */
  leave(may: (slot: number) => boolean): readonly (readonly [Item, number])[];
}

/**
 * @param giveUp called for a step that leaves unsent.
 * @param trouble why the connection is not there.
 */
export function waitingRoom(giveUp: (item: Item, cause: unknown) => void, trouble: () => unknown): Waiting {
  const items = new Map<Item, number>();
  const since = new Map<Item, number>();
  let timer: NodeJS.Timeout | undefined;

  function notReached(reason: unknown): Error {
    return new Error('Redis was not reached in time; the step was not sent', { cause: trouble() ?? reason });
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
    slots: () => new Set(items.values()),
    enter(item, slot) {
      if (item.aborted) {
        giveUp(item, item.reason);
        return;
      }
      items.set(item, slot);
      if (item.deadlineAt === Number.POSITIVE_INFINITY) {
        since.set(item, performance.now());
        wait();
        return;
      }
      item.onAbort = () => {
        items.delete(item);
        giveUp(item, notReached(item.reason));
      };
    },
    leave(may) {
      const leaving: [Item, number][] = [];
      for (const [item, slot] of items) {
        if (!may(slot)) continue;
        items.delete(item);
        since.delete(item);
        item.onAbort = undefined;
        leaving.push([item, slot]);
      }
      if (since.size === 0 && timer !== undefined) {
        clearTimeout(timer);
        timer = undefined;
      }
      return leaving;
    },
  };
}
