/** One window or bucket, alone in its call: the arguments of lua/0-alone.lua. */
import type { AskStep, Charge, Step } from '@limiter/core';
import { numbersOf } from './charge-numbers.js';

/** The only charge of the only step, when that is a consume of a window or bucket. */
export function loneCharge(steps: readonly Step[]): Charge | undefined {
  const step = steps[0];
  if (steps.length !== 1 || step?.op !== 'consume' || (step as AskStep).charges.length !== 1) return undefined;
  const charge = step.charges[0] as Charge;
  return charge.rule.algorithm === 'sliding-window-log' || charge.cost === 0 ? undefined : charge;
}

/** Kind, then its numbers. The shortest kinds answer packed only. */
export function aloneArgs(charge: Charge, packed: boolean): readonly [kind: string, ...numbers: string[]] {
  const { rate, most, second, cost } = numbersOf(charge);
  if (charge.rule.algorithm === 'token-bucket') {
    const numbers = [`${rate}`, `${most}`, `${second}`] as const;
    return packed && cost === 1 ? ['b', ...numbers] : ['c', ...numbers, `${cost}`];
  }
  const isShort = packed && cost === 1 && second === 0;
  return isShort ? ['w', `${rate}`, `${most}`] : ['x', `${rate}`, `${most}`, `${cost}`, `${second}`];
}
