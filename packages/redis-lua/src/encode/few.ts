/** A consume of two or three windows and buckets that is alone in its call, in its commonest form: the JSON of lua/1-few.lua. */
import type { AskStep, Charge, Step } from '@limiter/core';
import { keyOf } from '../keys.js';
import { templateOf } from './plain.js';

/** Nothing when the call is another one. */
export function encodeFew(
  steps: readonly Step[],
  prefix: string,
): { readonly keys: readonly string[]; readonly json: string } | undefined {
  const step = steps[0];
  if (steps.length !== 1 || step?.op !== 'consume') return undefined;
  const { charges } = step as AskStep;
  if (charges.length < 2 || charges.length > 3 || !charges.every(isCommon)) return undefined;
  const keys = charges.map(({ ledger }) => keyOf(ledger, prefix));
  if (new Set(keys).size < keys.length) return undefined;
  return { keys, json: `[${templateOf(step as AskStep)}]` };
}

function isCommon({ rule, cost, enforce }: Charge): boolean {
  if (cost !== 1 || !enforce) return false;
  return rule.algorithm === 'token-bucket' || (rule.algorithm === 'fixed-window' && rule.align === 'clock');
}
