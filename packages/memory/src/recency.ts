/** Keys in the order of their last use, on lru-cache. It begins small and doubles: an lru-cache takes its whole room at once. */
import { LRUCache } from 'lru-cache';

const FIRST_ROOM = 256;

export class Recency {
  #cache: LRUCache<string, number>;
  readonly #max: number;

  /** At most `max` keys; whoever adds one has made room before. */
  constructor(max: number) {
    this.#max = max;
    this.#cache = new LRUCache({ max: Math.min(max, FIRST_ROOM) });
  }

  get size(): number {
    return this.#cache.size;
  }

  /** The slot of a key, which is now the last used. */
  use(key: string): number | undefined {
    return this.#cache.get(key);
  }

  /** The slot of a key, its place in the order unchanged. */
  peek(key: string): number | undefined {
    return this.#cache.peek(key);
  }

  /** Adds a key as the last used. */
  add(key: string, slot: number): void {
    if (this.#cache.size === this.#cache.max) this.#grow();
    this.#cache.set(key, slot);
  }

  delete(key: string): void {
    this.#cache.delete(key);
  }

  /** Takes out the key that was used least recently and returns its slot; undefined when there is none. */
  takeOldest(): number | undefined {
    return this.#cache.pop();
  }

  #grow(): void {
    const grown = new LRUCache<string, number>({ max: Math.min(this.#max, 2 * this.#cache.max) });
    for (const key of this.#cache.rkeys()) grown.set(key, this.#cache.peek(key) as number);
    this.#cache = grown;
  }
}
