/**
 * The primary key of a ledger: prefix, axis values, slot, limiter and limit name, grid. Values come before names, so that
 * the ledgers of one subject lie side by side and a decision about three limits mostly touches one page.
 *
 * ```
 * |:o1:d7|uploads/org|l60000        |:o1%003ax{eu}|api/day|f86400000        myapp|:o1|api/day|f86400000
 * ```
 */
import type { Ledger } from '@limiter/core';

/** What has a meaning in a key, what a terminal would swallow, and lone surrogates, which UTF-8 cannot hold. */
const SPECIAL = /[%|:{}!\p{Cc}\p{Cs}]/u;
const EVERY_SPECIAL: RegExp = new RegExp(SPECIAL.source, 'gu');

/** Any string, reversibly, without the characters that have a meaning in a key. */
export function escaped(text: string): string {
  if (!SPECIAL.test(text)) return text;
  return text.replace(EVERY_SPECIAL, (char) => `%${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** @param prefix escaped already */
export function ledgerKey(prefix: string, { name, grid, values, slot }: Ledger): string {
  let key = `${prefix}|`;
  for (const value of values) key += `:${escaped(value)}`;
  if (slot !== undefined) key += `{${escaped(slot)}}`;
  return `${key}|${name}|${grid}`;
}

/** The row that says that a receipt was used. No ledger's key holds a bare `!`. */
export function onceKey(prefix: string, key: string): string {
  return `${prefix}!once|${escaped(key)}`;
}

/** The row that holds an abandoned tree until its nodes are gone. */
export function treeKey(tree: number): string {
  return `!tree|${tree}`;
}
