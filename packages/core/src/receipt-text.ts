/**
 * Receipts as text, written by hand because one is made for every admitted call. Strings that are joined piece by piece cost
 * memory for each piece, so what stays the same from call to call is joined once, and large numbers are not written twice.
 *
 * `[1, limiter, id, by, [limit, ledger, algorithm numbers..., values, slot, charged, mark id, mark at, mark position], ...]`
 */
import type { Rule } from './rule.js';
import type { Ledger, Mark } from './store.js';

export const RECEIPT_FORMAT = 1;

/** What begins each receipt of a limiter: format, name, and the random part of its ids. */
export function receiptStart(limiter: string, random: string): string {
  return `[${RECEIPT_FORMAT},"${limiter}","${random}`;
}

/** The receipt up to its entries; `count` completes the id. */
export function startReceipt(start: string, count: number, by: 'fallback' | undefined): string {
  return start + count + (by === undefined ? '",""' : '","fallback"');
}

/** The part of an entry that stays the same from call to call: up to the quote that opens its first value. */
export function entryHead(limit: string, ledgerName: string, rule: Rule): string {
  return `,["${limit}","${ledgerName}",${ruleText(rule)},["`;
}

/** `text` with one limit's entry after it. */
export function addEntry(text: string, head: string, ledger: Ledger, charged: number, mark: Mark | undefined): string {
  const { values, slot } = ledger;
  const placed =
    slot === undefined && values.length === 1 && isPlain(values[0] as string)
      ? text + head + values[0] + chargedText(charged)
      : `${text}${head.slice(0, -1)}${values.map(quoted).join(',')}],${slot === undefined ? 'null' : quoted(slot)},${charged}`;
  return mark === undefined ? `${placed}]` : `${placed + idText(mark.id) + instantText(mark.at) + mark.position}]`;
}

export function endReceipt(text: string): string {
  return `${text}]`;
}

/** JSON text of a string; it escapes what UTF-8 cannot carry (lone surrogates). */
function quoted(text: string): string {
  return JSON.stringify(text);
}

const LONG = 64;

/** Short printable ASCII, which JSON takes as it is. */
function isPlain(text: string): boolean {
  if (text.length > LONG) return false;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code > 0x7e || code === 0x22 || code === 0x5c) return false;
  }
  return true;
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

/** The text of the number that was asked for last. */
function remembered(write: (value: number) => string): (value: number) => string {
  let last = Number.NaN;
  let text = '';
  return (value) => {
    if (value !== last) {
      last = value;
      text = write(value);
    }
    return text;
  };
}

const chargedText = remembered((charged) => `"],null,${charged}`);
/** A key that is charged again has the same identity. */
const idText = remembered((id) => `,${id}`);
/** Many calls share a millisecond. */
const instantText = remembered((at) => `,${at},`);
