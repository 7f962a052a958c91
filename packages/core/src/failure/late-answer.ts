/** An answer that came after the deadline: what it admitted is kept or given back, as the word of its step says. */
import type { Adjustment, AdjustStep, AskOutcome, AskStep, Charge, Outcome, Step, Verdict } from '../store.js';

export interface LateCharges {
  /** Consumes that were admitted and whose caller went ahead. */
  readonly kept: number;
  /** One adjust for each consume that was admitted although its caller was told otherwise. */
  readonly giveBack: readonly AdjustStep[];
}

/** 'allow' (and no word) went ahead: the charge is right. 'deny' and 'throw' did not, 'fallback' was charged elsewhere. */
export function judgeLateAnswer(steps: readonly Step[], outcomes: readonly Outcome[]): LateCharges {
  let kept = 0;
  const giveBack: AdjustStep[] = [];
  for (let i = 0; i < steps.length; i += 1) {
    const step = steps[i] as Step;
    const outcome = outcomes[i] as Outcome;
    if (step.op !== 'consume' || !outcome.ok || outcome.op !== 'consume') continue;
    const adjustments = chargesOf(step, outcome);
    if (adjustments.length === 0) continue;
    if (step.onFailure === undefined || step.onFailure === 'allow') kept += 1;
    else giveBack.push({ op: 'adjust', adjustments, ...(outcome.by === 'fallback' ? { by: 'fallback' } : {}) });
  }
  return { kept, giveBack };
}

function chargesOf(step: AskStep, outcome: AskOutcome): readonly Adjustment[] {
  return outcome.verdicts.flatMap((verdict: Verdict, i): readonly Adjustment[] => {
    if (verdict.mark === undefined) return [];
    const { ledger, rule, cost } = step.charges[i] as Charge;
    return [{ ledger, rule, mark: verdict.mark, charged: cost, change: 'give-back', amount: cost }];
  });
}
