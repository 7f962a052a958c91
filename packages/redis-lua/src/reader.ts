/** What EVALSHA answered, as whole numbers one after the other. */

/** Why a reply could not be read. */
export class NotOurs extends Error {}

/** Reads a reply from left to right: a list, or bytes (little-endian doubles). */
export class Reader {
  readonly #items: readonly unknown[] | undefined;
  readonly #bytes: DataView | undefined;
  readonly #count: number;
  #at = 0;

  constructor(reply: unknown) {
    if (Array.isArray(reply)) {
      this.#items = reply;
      this.#count = reply.length;
    } else if (reply instanceof Uint8Array) {
      if (reply.byteLength % 8 !== 0)
        throw new NotOurs(`the reply has ${reply.byteLength} bytes, which are no numbers`);
      this.#bytes = new DataView(reply.buffer, reply.byteOffset, reply.byteLength);
      this.#count = reply.byteLength / 8;
    } else throw new NotOurs(`the reply is ${reply === null ? 'null' : `a ${typeof reply}`}`);
  }

  /** The next whole number. In a list large ones travel as text. */
  next(): number {
    const at = this.#at;
    const number = at < this.#count ? this.#item(at) : Number.NaN;
    if (!Number.isSafeInteger(number)) throw new NotOurs(`item ${at} of the reply is no whole number`);
    this.#at = at + 1;
    return number;
  }

  #item(at: number): number {
    if (this.#bytes !== undefined) return this.#bytes.getFloat64(8 * at, true);
    const item = this.#items?.[at];
    return typeof item === 'string' && item !== '' ? Number(item) : (item as number);
  }

  end(): void {
    if (this.#at !== this.#count) throw new NotOurs(`the reply has ${this.#count - this.#at} items too many`);
  }
}
