/**
 * The name of a ledger's key. Any strings at all give distinct keys, as text that survives UTF-8 and JSON.
 *
 * ```
 * prefix:{values}name:grid              limiter:{d7}uploads/device:b60000
 * prefix:{slot}:name:grid:value:...     limiter:{o1}:uploads/device:b60000:d7       with a slot (hash tag) of its own
 * prefix:{slot}!key                     limiter:{d7}!4pAb...                        a marker of `once`
 * ```
 *
 * Redis Cluster hashes what stands in the braces, so the ledgers of one subject share a server even without a slot. A name begins
 * with a letter, so what follows the brace tells the three kinds apart.
 */
import type { Ledger } from '@limiter/core';

const SPECIAL = /[%:{}\u0000-\u001f\u007f-\u009f\ud800-\udfff]/;

/** Text without `:` and braces: what could be mistaken is written as %XX, half of a surrogate pair as %uXXXX. */
function escaped(text: string): string {
  if (!SPECIAL.test(text)) return text;
  let out = '';
  // By code point: a whole surrogate pair passes, half of one does not.
  for (const char of text) {
    const code = char.codePointAt(0) as number;
    if (code >= 0xd800 && code <= 0xdfff) out += `%u${code.toString(16)}`;
    else if (
      code < 0x20 ||
      (code >= 0x7f && code <= 0x9f) ||
      char === '%' ||
      char === ':' ||
      char === '{' ||
      char === '}'
    )
      out += `%${code.toString(16).padStart(2, '0')}`;
    else out += char;
  }
  return out;
}

/** The values as the hash tag. An empty tag would not be one, so no value and one empty value have names that no text escapes to. */
function valuesText(values: readonly string[]): string {
  if (values.length === 1) return values[0] === '' ? '%_' : escaped(values[0] as string);
  return values.length === 0 ? '%*' : values.map(escaped).join(':');
}

/**
 * What Redis Cluster hashes of a ledger's key: ledgers with equal text lie in one slot.
 *
 * @example slotTextOf({ name: 'uploads/device', grid: 'b60000', values: ['d7'] }) // 'd7'
 */
export function slotTextOf(ledger: Ledger): string {
  if (ledger.slot === undefined) return valuesText(ledger.values);
  return ledger.slot === '' ? '%_' : escaped(ledger.slot);
}

/**
 * The key of a ledger. `prefix` stands as it is, so it should not contain `{`: Redis Cluster would then hash that part.
 *
 * @example keyOf({ name: 'uploads/device', grid: 'b60000', values: ['d7'] }, 'limiter') // 'limiter:{d7}uploads/device:b60000'
 */
export function keyOf(ledger: Ledger, prefix: string): string {
  const head = `${prefix}:{${slotTextOf(ledger)}}`;
  if (ledger.slot === undefined) return `${head}${ledger.name}:${ledger.grid}`;
  let key = `${head}:${ledger.name}:${ledger.grid}`;
  for (const value of ledger.values) key += `:${escaped(value)}`;
  return key;
}

/** The key of the marker that closes a receipt everywhere, in the slot of one of the receipt's ledgers. */
export function markerKeyOf(key: string, beside: Ledger, prefix: string): string {
  return `${prefix}:{${slotTextOf(beside)}}!${escaped(key)}`;
}
