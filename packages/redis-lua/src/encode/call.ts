/** Calls that have logs, refunds, settlements or resets, or steps of many charges: the JSON of lua/3-call.lua. */
import type { Adjustment, AdjustStep, AskStep, Ledger, ResetStep, Rule, Step } from '@limiter/core';
import { keyOf, markerKeyOf } from '../keys.js';
import { MAX, numbersOf, offsetOf } from './charge-numbers.js';
import { Groups } from './groups.js';
import { KeyList } from './key-list.js';

const SHADOW = 4;
const ADJUST = -1;
const RESET = -2;

function codeOf(rule: Rule): 1 | 2 | 3 {
  if (rule.algorithm === 'token-bucket') return 2;
  return rule.algorithm === 'fixed-window' ? 1 : 3;
}

export function encodeCallJson(steps: readonly Step[], prefix: string): { keys: readonly string[]; json: string } {
  const keys = new KeyList();
  const groups = new Groups();
  const place = (ledger: Ledger, isLog: boolean): number => keys.place(keyOf(ledger, prefix), isLog);

  function ask({ op, charges }: AskStep): void {
    if (charges.length === 0) return;
    let template = `${2 * charges.length + (op === 'consume' ? 1 : 0)}`;
    for (const charge of charges) {
      const { rate, most, second, cost } = numbersOf(charge);
      template += `,${codeOf(charge.rule) + (charge.enforce ? 0 : SHADOW)},${rate},${second},${cost},${most}`;
    }
    const places = groups.places(template, true);
    for (const { ledger, rule } of charges) places.push(place(ledger, rule.algorithm === 'sliding-window-log'));
  }

  function adjust({ adjustments, once }: AdjustStep): void {
    let template = `${ADJUST},${adjustments.length},${once?.ttlMs ?? 0}`;
    for (const adjustment of adjustments) template += `,${adjustmentNumbers(adjustment)}`;
    const places = groups.places(template, false);
    // The marker first, then one key for each.
    places.push(once === undefined ? 0 : keys.place(markerKeyOf(once.key, once.beside, prefix), false));
    for (const adjustment of adjustments) {
      const { ledger, rule } = adjustment;
      places.push(isIdle(adjustment) ? 0 : place(ledger, rule.algorithm === 'sliding-window-log'));
    }
  }

  function reset({ ledgers }: ResetStep): void {
    groups.places(`${RESET}`, false).push(...ledgers.map((ledger) => place(ledger, ledger.grid.startsWith('l'))));
  }

  for (const step of steps) {
    if (step.op === 'adjust') adjust(step);
    else if (step.op === 'reset') reset(step);
    else ask(step);
  }
  const text = groups.text((places) => `[${places.map((one) => keys.resolved(one))}]`);
  return { keys: keys.all, json: `[${keys.strings}${text}]` };
}

/** Nothing was charged there, so nothing can be given back. */
const isIdle = ({ change, mark }: Adjustment): boolean => change === 'give-back' && mark === undefined;

/** As lua/8-adjust.lua lists them. */
function adjustmentNumbers(adjustment: Adjustment): string {
  const { rule, mark, charged, change, amount } = adjustment;
  const code = isIdle(adjustment) ? 0 : codeOf(rule);
  const head = `${code},${change === 'give-back' ? 1 : 0},${amount},${charged}`;
  const where = `${mark?.id ?? 0},${mark?.at ?? 0},${mark?.position ?? 0}`;
  if (rule.algorithm === 'token-bucket') {
    const { capacity, refillTokens, refillMs } = rule;
    const most = Math.min(2 * capacity, (MAX - (MAX % refillMs)) / refillMs) * refillMs;
    return `${head},${where},${refillTokens},${refillMs},${most},${capacity * refillMs}`;
  }
  return `${head},${where},${rule.windowMs},${offsetOf(rule)},${Math.min(2 * rule.limit, MAX)},0`;
}
