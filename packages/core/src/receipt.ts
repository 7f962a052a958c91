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
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/** JSON text of a string; JSON.stringify escapes what UTF-8 cannot carry (lone surrogates). */
function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
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

/** The receipt as text. Built by hand because it is made for every admitted call. */
export function writeReceipt(receipt: Receipt): string {
  let text = `[${FORMAT},"${receipt.limiter}","${receipt.id}","${receipt.by ?? ''}"`;
  for (const { limit, ledger, rule, charged, mark } of receipt.entries) {
    text += `,["${limit}","${ledger.name}",${ruleText(rule)},[`;
    for (let i = 0; i < ledger.values.length; i += 1)
      text += `${i > 0 ? ',' : ''}${quoted(ledger.values[i] as string)}`;
    text += `],${ledger.slot === undefined ? 'null' : quoted(ledger.slot)},${charged}`;
    text += mark === undefined ? ']' : `,${mark.id},${mark.at},${mark.position}]`;
  }
  return `${text}]`;
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
