/** The keys of a call: each once, strings (windows, buckets, markers) before logs, named by their place from 1 on. */
export class KeyList {
  readonly #strings: string[] = [];
  readonly #logs: string[] = [];
  readonly #places = new Map<string, number>();
  #repeated = false;

  /** The place of a key. A log's is negative until `resolved`, because logs lie behind the strings. */
  place(key: string, isLog: boolean): number {
    const known = this.#places.get(key);
    if (known !== undefined) {
      this.#repeated = true;
      return known;
    }
    const list = isLog ? this.#logs : this.#strings;
    const place = isLog ? -1 - list.length : list.length + 1;
    list.push(key);
    this.#places.set(key, place);
    return place;
  }

  /** A place that is known to be the key's. */
  again(place: number): number {
    this.#repeated = true;
    return place;
  }

  /** The final place, once all keys are known. */
  resolved(place: number): number {
    return place < 0 ? this.#strings.length - place : place;
  }

  /** Was a key placed more than once? */
  get repeated(): boolean {
    return this.#repeated;
  }

  /** How many keys hold strings. */
  get strings(): number {
    return this.#strings.length;
  }

  get all(): readonly string[] {
    return this.#logs.length === 0 ? this.#strings : [...this.#strings, ...this.#logs];
  }
}
