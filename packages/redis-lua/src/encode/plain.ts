/** Calls that only ask and charge windows and buckets, three at most in a step: the JSON of lua/2-plain.lua. */
import type { AskStep, Charge, Ledger, Step } from '@limiter/core';
import { keyOf } from '../keys.js';
import { numbersOf } from './charge-numbers.js';
import { Groups } from './groups.js';
import { KeyList } from './key-list.js';

const MOST_CHARGES = 3;

export function isPlain(step: Step): step is AskStep {
  if (step.op === 'adjust' || step.op === 'reset') return false;
  if (step.charges.length > MOST_CHARGES) return false;
  for (const { rule } of step.charges) if (rule.algorithm === 'sliding-window-log') return false;
  return true;
}

export function encodePlain(steps: readonly AskStep[], prefix: string): { keys: readonly string[]; json: string } {
  const keys = new KeyList();
  const groups = new Groups();
  let before: AskStep | undefined;
  let places: number[] = [];
  for (const step of steps) {
    if (step.charges.length === 0) continue;
    if (before === undefined || !asksTheSame(step, before)) places = groups.places(templateOf(step), true);
    for (let i = 0; i < step.charges.length; i += 1) {
      const { ledger } = step.charges[i] as Charge;
      // Of the step before, if that is in this group: then it had as many charges.
      const earlier = places[places.length - step.charges.length];
      const isSame = earlier !== undefined && isSameLedger(ledger, before?.charges[i]?.ledger);
      places.push(isSame ? keys.again(earlier) : keys.place(keyOf(ledger, prefix), false));
    }
    before = step;
  }
  const shared = keys.repeated && groups.markShared();
  const json = `[${shared ? 1 : 0}${groups.text((places) => (shared ? `[${places}]` : `${places.length}`))}]`;
  return { keys: keys.all, json };
}

/** Known without a look at the numbers, as is usual when both are one limiter's; else the templates tell. */
function asksTheSame(step: AskStep, other: AskStep): boolean {
  if (step.op !== other.op || step.charges.length !== other.charges.length) return false;
  for (let i = 0; i < step.charges.length; i += 1) {
    const one = step.charges[i] as Charge;
    const two = other.charges[i] as Charge;
    if (one.rule !== two.rule || one.cost !== two.cost) return false;
    if (one.holdBack !== two.holdBack || one.enforce !== two.enforce) return false;
  }
  return true;
}

/** Spares a hot key from being written and looked up for every step that asks for it. */
function isSameLedger(ledger: Ledger, other: Ledger | undefined): boolean {
  if (other === undefined || ledger.name !== other.name || ledger.grid !== other.grid) return false;
  if (ledger.slot !== other.slot || ledger.values.length !== other.values.length) return false;
  for (let i = 0; i < ledger.values.length; i += 1) if (ledger.values[i] !== other.values[i]) return false;
  return true;
}

/** What a step asks, without its keys: steps that ask the same of different keys have the same. */
export function templateOf({ op, charges }: AskStep): string {
  let head = (op === 'consume' ? 1 : 0) + 4 * charges.length;
  let everyCostIsOne = true;
  for (const { cost } of charges) if (cost !== 1) everyCostIsOne = false;
  if (everyCostIsOne) head += 2;
  let numbers = '';
  let bit = 16;
  for (const charge of charges) {
    const { rate, most, second, cost } = numbersOf(charge);
    if (charge.rule.algorithm === 'token-bucket') head += bit;
    if (!charge.enforce) head += 2 * bit;
    bit *= 8;
    numbers += everyCostIsOne ? `,${rate},${most},${second}` : `,${rate},${most},${second},${cost}`;
  }
  return head + numbers;
}
