/**
 * What was refunded of the entries of a ring, so that "how much before this entry" and "where is this unit" stay
 * O(log n): a block of 64 entries keeps its refunds plainly, a Fenwick tree keeps the sums of the blocks.
 * A block exists from its first refund on. Source: P. Fenwick, A new data structure for cumulative frequency tables (1994).
 */

const BLOCK = 64;
const SHIFT = 6;

export class RefundIndex {
  readonly #blocks: (Float64Array<ArrayBuffer> | undefined)[] = [];
  /** `tree[i]`: the refunds of the blocks i - lowbit(i) .. i - 1. */
  readonly #tree: Float64Array<ArrayBuffer>;
  readonly #count: number;
  /** All refunds. */
  total = 0;

  /** @param capacity slots of the ring: a power of two. */
  constructor(capacity: number) {
    this.#count = Math.max(1, capacity >>> SHIFT);
    this.#tree = new Float64Array(this.#count + 1);
  }

  /** Adds (or with a negative amount takes away) a refund of the entry in `slot`. */
  add(slot: number, amount: number): void {
    const block = slot >>> SHIFT;
    let refunds = this.#blocks[block];
    if (refunds === undefined) {
      refunds = new Float64Array(BLOCK);
      this.#blocks[block] = refunds;
    }
    const at = slot & (BLOCK - 1);
    refunds[at] = (refunds[at] as number) + amount;
    for (let i = block + 1; i <= this.#count; i += i & -i) this.#tree[i] = (this.#tree[i] as number) + amount;
    this.total += amount;
  }

  /** What was refunded of the entry in `slot`. */
  of(slot: number): number {
    const refunds = this.#blocks[slot >>> SHIFT];
    return refunds === undefined ? 0 : (refunds[slot & (BLOCK - 1)] as number);
  }

  /** What was refunded of the slots 0 .. slot-1. */
  before(slot: number): number {
    const block = slot >>> SHIFT;
    let sum = 0;
    for (let i = block; i > 0; i &= i - 1) sum += this.#tree[i] as number;
    const refunds = this.#blocks[block];
    if (refunds === undefined) return sum;
    const end = slot & (BLOCK - 1);
    for (let i = 0; i < end; i += 1) sum += refunds[i] as number;
    return sum;
  }

  /**
   * The first slot in `from` .. `to`-1 up to and including which at least `target` was kept; `to` when there is none. What was
   * spent up to a slot stands in `cells[2 * slot + 1]` and never falls from slot to slot, nor does what was kept of it.
   */
  search(cells: ArrayLike<number>, from: number, to: number, target: number): number {
    let block = 0;
    let refunded = 0;
    for (let step = this.#count; step > 0; step >>>= 1) {
      const next = block + step;
      const end = next << SHIFT;
      if (next > this.#count || end > to) continue;
      const withNext = refunded + (this.#tree[next] as number);
      if (end > from && (cells[2 * end - 1] as number) - withNext >= target) continue;
      block = next;
      refunded = withNext;
    }
    const refunds = this.#blocks[block];
    for (let slot = block << SHIFT; slot < to; slot += 1) {
      if (refunds !== undefined) refunded += refunds[slot & (BLOCK - 1)] as number;
      if (slot >= from && (cells[2 * slot + 1] as number) - refunded >= target) return slot;
    }
    return to;
  }
}
