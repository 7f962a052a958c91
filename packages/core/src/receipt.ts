/**
 * A receipt says which ledgers a consume charged, by which rule, how much and where, as text that survives JSON and any
 * queue, so that another process may refund or settle it. It is a claim check, not a secret and not signed: keep it on the server.
 * Written by receipt-text.ts, read here.
 */
import { MAX } from './algorithms/time.js';
import { LimiterError, shown } from './errors.js';
import { RECEIPT_FORMAT } from './receipt-text.js';
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

/** Reads a receipt of `limiter`. @throws LimiterError ERR_LIMITER_RECEIPT */
export function readReceipt(text: unknown, limiter: string): Receipt {
  const parts = parse(text);
  const [format, name, id, by, ...entries] = parts;
  if (
    format !== RECEIPT_FORMAT ||
    typeof name !== 'string' ||
    typeof id !== 'string' ||
    (by !== '' && by !== 'fallback')
  )
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
  const numbers = entry.length === 12 ? [first, second, third, charged, id, position] : [first, second, third, charged];
  // A window that is shifted by an offset may have begun before the epoch.
  const whole =
    numbers.every((n) => Number.isSafeInteger(n) && (n as number) >= 0) &&
    (entry.length === 9 || Number.isSafeInteger(at));
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
