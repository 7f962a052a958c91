/** Reproducible random numbers: xoshiro128** (Blackman, Vigna), seeded by splitmix32. */
export class Random {
  readonly #state: Uint32Array;

  constructor(seed: number) {
    let x = seed >>> 0;
    this.#state = Uint32Array.from({ length: 4 }, () => {
      x = (x + 0x9e3779b9) >>> 0;
      let z = x;
      z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
      z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
      return (z ^ (z >>> 15)) >>> 0;
    });
  }

  #next(): number {
    const s = this.#state as unknown as [number, number, number, number];
    const rotate = (value: number, by: number): number => ((value << by) | (value >>> (32 - by))) >>> 0;
    const result = Math.imul(rotate(Math.imul(s[1], 5) >>> 0, 7), 9) >>> 0;
    const shifted = (s[1] << 9) >>> 0;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate(s[3], 11);
    return result;
  }

  /** A whole number from `low` to `high`, both included; up to 2^53-1. */
  from(low: number, high: number): number {
    const width = high - low + 1;
    const fraction = (this.#next() + (this.#next() >>> 11) * 2 ** 32) / 2 ** 53;
    return low + Math.min(width - 1, Math.floor(fraction * width));
  }

  chance(oneIn: number): boolean {
    return this.from(1, oneIn) === 1;
  }

  of<T>(items: readonly T[]): T {
    return items[this.from(0, items.length - 1)] as T;
  }
}
