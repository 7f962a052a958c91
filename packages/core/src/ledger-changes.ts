/**
 * Which ledgers have changed since when: a fixed number of places, each with the number of the last change there. Ledgers that
 * share a place by accident count as changed together, so a change is never missed.
 */
import type { Ledger } from './store.js';

/** Of a longer text both ends count. */
const END = 32;

export class LedgerChanges {
  readonly #lastAt: Float64Array;
  readonly #mask: number;
  /** How many changes there were. */
  count = 0;

  /** @param ledgers for about how many ledgers there shall be a place each, 1 .. 2^30 */
  constructor(ledgers: number) {
    const places = ledgers <= 1 ? 1 : 1 << (32 - Math.clz32(ledgers - 1));
    this.#lastAt = new Float64Array(places);
    this.#mask = places - 1;
  }

  add(ledger: Ledger): void {
    this.count += 1;
    this.#lastAt[this.placeOf(ledger)] = this.count;
  }

  /** Has a ledger of this place changed after the change with the number `count`? */
  since(place: number, count: number): boolean {
    return (this.#lastAt[place] as number) > count;
  }

  placeOf({ name, values }: Ledger): number {
    let hash = hashed(name, values.length);
    for (let i = 0; i < values.length; i += 1) hash = hashed(values[i] as string, hash);
    // The upper bits depend on more of the text than the lower ones.
    return (hash ^ (hash >>> 15)) & this.#mask;
  }
}

function hashed(text: string, from: number): number {
  const { length } = text;
  let hash = Math.imul(from ^ length, 0x9e37_79b1);
  const head = length <= 2 * END ? length : END;
  for (let i = 0; i < head; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x0100_0193);
  for (let i = Math.max(head, length - END); i < length; i += 1)
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x0100_0193);
  return hash;
}
