/**
 * How many events fell into each stretch of time, over a span that nobody knows beforehand. When the stretches become
 * too many, neighbours are joined and a stretch is twice as long, so there are always at most `max`.
 */
export class Timeline {
  #cells = new Map<number, number>();
  #cellMs: number;
  readonly #max: number;
  #from = Number.POSITIVE_INFINITY;
  #to = Number.NEGATIVE_INFINITY;

  constructor(max: number = 512, cellMs: number = 1_000) {
    this.#max = max;
    this.#cellMs = cellMs;
  }

  add(at: number): void {
    this.#from = Math.min(this.#from, at);
    this.#to = Math.max(this.#to, at);
    while (this.#index(this.#to) - this.#index(this.#from) >= this.#max) this.#double();
    const index = this.#index(at);
    this.#cells.set(index, (this.#cells.get(index) ?? 0) + 1);
  }

  /**
   * The counts from `from` to `to`, in at most `columns` equal stretches of `columnMs`.
   * Several timelines drawn with the same arguments line up, whatever each has seen.
   */
  columns(
    from: number,
    to: number,
    columns: number,
  ): { readonly columnMs: number; readonly from: number; readonly counts: readonly number[] } {
    while (this.#index(to) - this.#index(from) >= this.#max) this.#double();
    // Whole cells make a column, else one cell's events would be split by guess.
    const cells = this.#index(to) - this.#index(from) + 1;
    const width = Math.ceil(cells / columns);
    const counts = Array.from({ length: Math.ceil(cells / width) }, () => 0);
    for (const [index, count] of this.#cells) {
      const column = Math.floor((index - this.#index(from)) / width);
      if (column >= 0 && column < counts.length) counts[column] = (counts[column] as number) + count;
    }
    return { columnMs: width * this.#cellMs, from: this.#index(from) * this.#cellMs, counts };
  }

  #index(at: number): number {
    return Math.floor(at / this.#cellMs);
  }

  #double(): void {
    this.#cellMs *= 2;
    const joined = new Map<number, number>();
    for (const [index, count] of this.#cells) {
      const half = Math.floor(index / 2);
      joined.set(half, (joined.get(half) ?? 0) + count);
    }
    this.#cells = joined;
  }
}
