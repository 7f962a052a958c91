/**
 * A receipt says which ledgers a consume charged, by which rule, how much and where, as text that survives JSON and any
 * queue, so that another process may refund or settle it. It is a claim check, not a secret and not signed: keep it on the server.
 *
 * `[1, limiter, id, by, [limit, ledger, algorithm numbers..., values, slot, charged, mark id, mark at, mark position], ...]`
 */
import { MAX } from './algorithms/time.js';
import { LimiterError, shown } from './errors.js';
import { type Rule, ruleGrid } from './rule.js';
import type { Ledger, Mark } from './store.js';

/** One limit's part of a receipt. */
export interface ReceiptEntry {
  readonly limit: string;
  readonly ledger: Ledger;
  readonly rule: Rule;
  readonly charged: number;
  readonly mark: Mark | undefined;
}

export interface Receipt {
  readonly limiter: string;
  /** Unique to the consume that made it. */
  readonly id: string;
  /** Whose ledgers were charged: the store's, or the fallback's. */
  readonly by: 'fallback' | undefined;
  readonly entries: readonly ReceiptEntry[];
}

const FORMAT = 1;
const SHORT = 64;

/** JSON text of a string; JSON.stringify escapes what UTF-8 cannot carry (lone surrogates). Short plain text is quoted as it is. */
function quoted(text: string): string {
  if (text.length > SHORT) return JSON.stringify(text);
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

/** The part of an entry that stays the same from call to call. */
export function entryHead(limit: string, ledgerName: string, rule: Rule): string {
  return `["${limit}","${ledgerName}",${ruleText(rule)},[`;
}

/** One limit's entry, built by hand because it is made for every admitted call. */
export function writeEntry(head: string, ledger: Ledger, charged: number, mark: Mark | undefined): string {
  const { values, slot } = ledger;
  let text = head;
  for (let i = 0; i < values.length; i += 1)
    text += i === 0 ? quoted(values[i] as string) : `,${quoted(values[i] as string)}`;
  text += slot === undefined ? `],null,${charged}` : `],${quoted(slot)},${charged}`;
  return mark === undefined ? `${text}]` : `${text},${mark.id},${textOfInstant(mark.at)},${mark.position}]`;
}

/** The receipt as text; `entries` are joined by commas, with one in front. */
export function writeReceipt(limiter: string, id: string, by: Receipt['by'], entries: string): string {
  return `[${FORMAT},"${limiter}","${id}","${by ?? ''}"${entries}]`;
}

let lastInstant = -1;
let lastInstantText = '';

/** Many calls share a millisecond; turning it into text costs more than the rest of an entry. */
function textOfInstant(at: number): string {
  if (at !== lastInstant) {
    lastInstant = at;
    lastInstantText = String(at);
  }
  return lastInstantText;
}

/** Reads a receipt of `limiter`. @throws LimiterError ERR_LIMITER_RECEIPT */
export function readReceipt(text: unknown, limiter: string): Receipt {
  const parts = parse(text);
  const [format, name, id, by, ...entries] = parts;
  if (format !== FORMAT || typeof name !== 'string' || typeof id !== 'string' || (by !== '' && by !== 'fallback'))
    throw bad(text);
  if (name !== limiter) {
    throw new LimiterError(
      'ERR_LIMITER_RECEIPT',
      `receipt must be one of the limiter ${shown(limiter)}, got one of ${shown(name)}`,
    );
  }
  return { limiter: name, id, by: by === '' ? undefined : by, entries: entries.map((entry) => readEntry(entry, text)) };
}

function parse(text: unknown): readonly unknown[] {
  if (typeof text !== 'string') throw bad(text);
  try {
    const parts: unknown = JSON.parse(text);
    if (Array.isArray(parts)) return parts;
  } catch {
    // Not JSON: the same answer as any other text that is no receipt.
  }
  throw bad(text);
}

function bad(text: unknown): LimiterError {
  return new LimiterError(
    'ERR_LIMITER_RECEIPT',
    `receipt must be the text of a decision's receipt, unchanged, got ${shown(text)}`,
  );
}

function readEntry(entry: unknown, text: unknown): ReceiptEntry {
  if (!Array.isArray(entry) || (entry.length !== 9 && entry.length !== 12)) throw bad(text);
  const [limit, name, code, first, second, third, values, slot, charged, id, at, position] = entry as unknown[];
  const numbers =
    entry.length === 12 ? [first, second, third, charged, id, at, position] : [first, second, third, charged];
  const whole = numbers.every((n) => typeof n === 'number' && Number.isInteger(n) && n >= 0 && n <= MAX);
  const named = typeof limit === 'string' && typeof name === 'string' && (slot === null || typeof slot === 'string');
  if (!whole || !named || !Array.isArray(values) || !values.every((value) => typeof value === 'string'))
    throw bad(text);
  const rule = readRule(code, first as number, second as number, third as number);
  if (rule === undefined) throw bad(text);
  return {
    limit,
    ledger: { name, grid: ruleGrid(rule), values: values as string[], slot: slot ?? undefined },
    rule,
    charged: charged as number,
    mark: entry.length === 12 ? { id: id as number, at: at as number, position: position as number } : undefined,
  };
}

function readRule(code: unknown, first: number, second: number, third: number): Rule | undefined {
  if (second < 1) return undefined;
  if (code === 'f' && third < second)
    return { algorithm: 'fixed-window', limit: first, windowMs: second, align: 'clock', offsetMs: third };
  if (code === 'r')
    return { algorithm: 'fixed-window', limit: first, windowMs: second, align: 'first-request', offsetMs: 0 };
  if (code === 'l') return { algorithm: 'sliding-window-log', limit: first, windowMs: second };
  if (code === 'b' && third >= 1 && first <= MAX / third)
    return { algorithm: 'token-bucket', capacity: first, refillTokens: second, refillMs: third };
  return undefined;
}
