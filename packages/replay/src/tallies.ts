/**
 * Counts whose memory does not grow with the log: exact up to a size that few logs reach, then a lower bound that says so.
 */

export interface Counted {
  readonly key: string;
  readonly count: number;
  /** false: a lower bound; the key may have been forgotten once while it was rare. */
  readonly exact: boolean;
}

/**
 * How often each key was seen, for as many keys as are worth it. At twice `max` keys the rarer half is forgotten (lossy
 * counting; Manku and Motwani, 2002): what is among the most frequent stays so.
 */
export class Frequencies {
  readonly #counts = new Map<string, { count: number; exact: boolean }>();
  readonly #max: number;
  #forgot = false;

  constructor(max: number) {
    this.#max = max;
  }

  add(key: string): void {
    const entry = this.#counts.get(key);
    if (entry) {
      entry.count++;
      return;
    }
    this.#counts.set(key, { count: 1, exact: !this.#forgot });
    if (this.#counts.size > this.#max * 2) this.#prune();
  }

  get(key: string): Counted | undefined {
    const entry = this.#counts.get(key);
    return entry && { key, ...entry };
  }

  /** The `n` most frequent, ties in the order of their first appearance. */
  top(n: number): readonly Counted[] {
    return this.#sorted()
      .slice(0, n)
      .map(([key, { count, exact }]) => ({ key, count, exact }));
  }

  /** The most frequent key that begins with `start`. */
  topOf(start: string): Counted | undefined {
    let top: Counted | undefined;
    for (const [key, entry] of this.#counts) {
      if (key.startsWith(start) && entry.count > (top?.count ?? 0)) top = { key, ...entry };
    }
    return top;
  }

  #sorted(): [string, { count: number; exact: boolean }][] {
    return [...this.#counts].sort(([, a], [, b]) => b.count - a.count);
  }

  #prune(): void {
    for (const [key] of this.#sorted().slice(this.#max)) this.#counts.delete(key);
    this.#forgot = true;
  }
}

/** How many different keys there were. Beyond `max` it only knows "at least `max`". */
export class Distinct {
  readonly #seen = new Set<string>();
  readonly #max: number;
  exact = true;

  constructor(max: number = 500_000) {
    this.#max = max;
  }

  get count(): number {
    return this.#seen.size;
  }

  /** Whether the key is new. */
  add(key: string): boolean {
    if (this.#seen.has(key)) return false;
    if (this.#seen.size < this.#max) this.#seen.add(key);
    else this.exact = false;
    return true;
  }
}
