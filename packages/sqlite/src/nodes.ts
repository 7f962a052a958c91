/**
 * Nodes of trees that need not be read again. What is here is what the file holds, with the changes of the transaction on
 * top; it is forgotten when that is no longer sure: when another connection has committed or a transaction was taken back.
 */

/** Time and sum in turn: `[at, kept, at, kept, ...]`. */
export type Items = number[];

/** So many stay from one transaction to the next: 0.3 MB at most. */
const NODES = 256;

export class Nodes {
  readonly #known = new Map<string, Items>();

  get(tree: number, slot: number): Items | undefined {
    return this.#known.get(`${tree}/${slot}`);
  }

  set(tree: number, slot: number, items: Items): void {
    this.#known.set(`${tree}/${slot}`, items);
  }

  /** Between transactions. */
  age(): void {
    if (this.#known.size > NODES) this.forget();
  }

  forget(): void {
    if (this.#known.size > 0) this.#known.clear();
  }
}
