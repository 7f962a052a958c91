/**
 * How a ledger's parts become the string under which it is found. One plain value is its own key, so that the caller's own
 * string is what is looked up; everything else begins with NUL and carries lengths, so that no two ever meet.
 */
import type { Ledger } from '@limiter/core';

const NUL = '\u0000';
/** No value and no slot: the ledger that everybody shares. */
const EVERYBODY = `${NUL}-`;

/**
 * The key of a ledger's values and slot. Ledgers of equal values and slot share it, whatever their names: they live under
 * one key and leave together.
 *
 * @example keyOf({ name: 'api/ip', grid: 'f1000', values: ['10.0.0.1'] }) // '10.0.0.1'
 */
export function keyOf(ledger: Ledger): string {
  const { values, slot } = ledger;
  if (slot === undefined) {
    if (values.length === 1) {
      const value = values[0] as string;
      if (value.charCodeAt(0) !== 0) return value;
    } else if (values.length === 0) return EVERYBODY;
  }
  let key = slot === undefined ? EVERYBODY : `${NUL}${slot.length}:${slot}`;
  for (const value of values) key += `${value.length}:${value}`;
  return key;
}

/** The key of a `once` marker: never that of a ledger, whose second character is a digit or '-'. */
export function markerKeyOf(key: string): string {
  return `${NUL}!${key}`;
}

/** What `keyOf` joined, for reports; a marker has no values. */
export function valuesOf(key: string): { readonly values: readonly string[]; readonly slot: string | undefined } {
  if (key.charCodeAt(0) !== 0) return { values: [key], slot: undefined };
  if (key[1] === '!') return { values: [], slot: undefined };
  const slotless = key[1] === '-';
  const parts: string[] = [];
  let at = slotless ? 2 : 1;
  while (at < key.length) {
    const colon = key.indexOf(':', at);
    const end = colon + 1 + Number(key.slice(at, colon));
    parts.push(key.slice(colon + 1, end));
    at = end;
  }
  return slotless ? { values: parts, slot: undefined } : { values: parts.slice(1), slot: parts[0] };
}
