/** One ledger, alone in its call: the arguments of lua/0-alone.lua and 1-lone-log.lua. */
import type { AskStep, Charge, Step } from '@limiter/core';
import { numbersOf } from './charge-numbers.js';

/** The only charge of the only step, when that is a consume: of a window or bucket, or, where `logs`, of a log too. */
export function loneCharge(steps: readonly Step[], logs: boolean): Charge | undefined {
  const step = steps[0];
  if (steps.length !== 1 || step?.op !== 'consume' || (step as AskStep).charges.length !== 1) return undefined;
  const charge = step.charges[0] as Charge;
  return charge.cost === 0 || (charge.rule.algorithm === 'sliding-window-log' && !logs) ? undefined : charge;
}

/** Kind, then its numbers. The shortest kinds answer packed only. */
export function aloneArgs(charge: Charge, packed: boolean): readonly [kind: string, ...numbers: string[]] {
  const { rate, most, second, cost } = numbersOf(charge);
  if (charge.rule.algorithm === 'token-bucket') {
    const numbers = [`${rate}`, `${most}`, `${second}`] as const;
    return packed && cost === 1 ? ['b', ...numbers] : ['c', ...numbers, `${cost}`];
  }
  if (charge.rule.algorithm === 'sliding-window-log') return ['l', `${rate}`, `${most}`, `${cost}`];
  const isShort = packed && cost === 1 && second === 0;
  return isShort ? ['w', `${rate}`, `${most}`] : ['x', `${rate}`, `${most}`, `${cost}`, `${second}`];
}
