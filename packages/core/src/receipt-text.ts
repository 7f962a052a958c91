/**
 * Receipts as text, written by hand because one is made for every admitted call. Strings that are joined piece by piece cost
 * memory for each piece, so what stays the same from call to call is joined once.
 *
 * `[1, limiter, id, by, [limit, ledger, algorithm numbers..., values, slot, charged, mark id, mark at, mark position], ...]`
 */
import { decimals, THREE_DIGITS } from './decimal.js';
import type { Rule } from './rule.js';
import type { Ledger, Mark } from './store.js';

export const RECEIPT_FORMAT = 1;

/** The last digits of an id, and what follows it in a receipt for the store's own ledgers. */
const ID_ENDS: readonly string[] = THREE_DIGITS.map((digits) => `${digits}",""`);

/** Begins the receipts of one limiter. An id is a random part and a count: no other limiter, process or machine makes it. */
export class ReceiptStarts {
  readonly #limiter: string;
  readonly #random: () => string;
  #random80: string | undefined;
  #thousands = -1;
  /** What has been used of these thousand. */
  #used: number = ID_ENDS.length;
  #start = '';

  /** `random` is asked at the first receipt: some runtimes give no randomness while modules are loaded. */
  constructor(limiter: string, random: () => string) {
    this.#limiter = limiter;
    this.#random = random;
  }

  /** A receipt up to its entries. */
  next(by: 'fallback' | undefined): string {
    if (this.#used === ID_ENDS.length) this.#turn();
    const last = this.#used;
    this.#used = last + 1;
    return this.#start + (by === undefined ? (ID_ENDS[last] as string) : `${THREE_DIGITS[last]}","fallback"`);
  }

  #turn(): void {
    this.#random80 ??= this.#random();
    this.#used = 0;
    this.#thousands += 1;
    this.#start = `[${RECEIPT_FORMAT},"${this.#limiter}","${this.#random80}${this.#thousands}`;
  }
}

/** Writes the entries of one limit under one rule. */
export class ReceiptEntries {
  /** Up to the list of values. */
  readonly #head: string;
  // The last entry but for the place of its charge, which is all that differs while one key is charged within one millisecond.
  #opening = '';
  #value = '';
  #charged = 0;
  #id = 0;
  #at = 0;
  #text = '';

  constructor(limit: string, ledgerName: string, rule: Rule) {
    this.#head = `"${limit}","${ledgerName}",${ruleText(rule)},[`;
  }

  /** `text` with an entry after it, which the next one or `endReceipt` closes. `opening`: that of the first entry, or of a later one. */
  add(text: string, opening: string, ledger: Ledger, charged: number, mark: Mark | undefined): string {
    const { values, slot } = ledger;
    if (mark === undefined) return `${text + opening + this.#head + placeText(ledger)},${charged}`;
    if (values.length !== 1 || slot !== undefined)
      return text + opening + this.#head + placeText(ledger) + chargeText(charged, mark) + position(mark.position);
    const value = values[0] as string;
    if (
      charged !== this.#charged ||
      mark.at !== this.#at ||
      mark.id !== this.#id ||
      value !== this.#value ||
      opening !== this.#opening
    ) {
      this.#opening = opening;
      this.#value = value;
      this.#charged = charged;
      this.#id = mark.id;
      this.#at = mark.at;
      this.#text = `${opening + this.#head + quoted(value)}],null${chargeText(charged, mark)}`;
    }
    return text + this.#text + position(mark.position);
  }
}

export const FIRST_ENTRY = ',[';
export const LATER_ENTRY = '],[';

/** @param entries whether there are any. */
export function endReceipt(text: string, entries: boolean): string {
  return text + (entries ? ']]' : ']');
}

const identity: (n: number) => string = decimals();
const instant: (n: number) => string = decimals();
const position: (n: number) => string = decimals();

function chargeText(charged: number, mark: Mark): string {
  return `,${charged},${identity(mark.id)},${instant(mark.at)},`;
}

/** The list of values from behind its bracket, and the slot. */
function placeText({ values, slot }: Ledger): string {
  return `${values.map(quoted).join(',')}],${slot === undefined ? 'null' : quoted(slot)}`;
}

const LONG = 64;

/** JSON text of a string; it escapes what UTF-8 cannot carry (lone surrogates). */
function quoted(text: string): string {
  if (text.length > LONG) return JSON.stringify(text);
  // Short printable ASCII is taken as it is.
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code > 0x7e || code === 0x22 || code === 0x5c) return JSON.stringify(text);
  }
  return `"${text}"`;
}

function ruleText(rule: Rule): string {
  switch (rule.algorithm) {
    case 'fixed-window':
      return `"${rule.align === 'clock' ? 'f' : 'r'}",${rule.limit},${rule.windowMs},${rule.offsetMs}`;
    case 'sliding-window-log':
      return `"l",${rule.limit},${rule.windowMs},0`;
    case 'token-bucket':
      return `"b",${rule.capacity},${rule.refillTokens},${rule.refillMs}`;
  }
}
