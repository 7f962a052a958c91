/** An outcome turned into a decision: the verdicts of the store, or the word chosen for when it fails. */
import { type DecidedBy, type Decision, isTighter, type LimitStatus, type Reason } from './decision.js';
import { causeText, LimiterError, shown } from './errors.js';
import type { Mode } from './limit.js';
import type { Plan, PlannedLimit } from './plan.js';
import type { Asked, Question } from './question.js';
import { endReceipt, FIRST_ENTRY, LATER_ENTRY, type ReceiptEntries, type ReceiptStarts } from './receipt-text.js';
import type { AskOutcome, Charge, FaultOutcome, Outcome, Verdict } from './store.js';
import { shownKey } from './subject.js';

/** How long a refused call waits when the store failed and nobody knows better. */
const FAILED_RETRY_AFTER_MS = 1_000;

/** What stays the same for a limiter. */
export interface Answerer {
  readonly name: string;
  readonly plan: Plan;
  /** A limiter in shadow decides and charges as ever; only `allowed` is true. */
  readonly mode: Mode;
  readonly now: () => number;
  readonly receipts: ReceiptStarts;
}

/** @throws LimiterError ERR_LIMITER_STORE_FAILURE when the store failed and the word is 'throw'; ERR_LIMITER_STORE for another step's outcome */
export function decide(answerer: Answerer, question: Question, outcome: Outcome): Decision {
  if (!outcome.ok) return decideByPolicy(answerer, question, outcome);
  const { op } = question.step;
  if (outcome.op !== op)
    throw new LimiterError('ERR_LIMITER_STORE', `a store must answer ${op} with ${op}, got ${shown(outcome.op)}`);
  return decideByVerdicts(answerer, question, outcome as AskOutcome, (outcome as AskOutcome).by ?? 'store');
}

/** Every limit was skipped or is unlimited: there is nothing to ask a store. */
export function decideUnasked(answerer: Answerer, question: Question): Decision {
  const outcome: AskOutcome = { ok: true, op: question.step.op, now: answerer.now(), allowed: true, verdicts: [] };
  return decideByVerdicts(answerer, question, outcome, 'policy');
}

function decideByVerdicts(answerer: Answerer, question: Question, outcome: AskOutcome, decidedBy: DecidedBy): Decision {
  const { asked, step } = question;
  const { allowed, verdicts } = outcome;
  const limits: Record<string, LimitStatus> = {};
  let speaks: LimitStatus | undefined;
  let retryAfterMs = 0;
  let wouldBe = true;
  for (let i = 0; i < asked.length; i += 1) {
    const limit = answerer.plan.limits[i] as PlannedLimit;
    const part = asked[i] as Asked;
    const status = statusOf(limit, part, part.charge < 0 ? undefined : verdicts[part.charge]);
    limits[limit.name] = status;
    if (!status.allowed) wouldBe = false;
    if (limit.mode === 'shadow') continue;
    if (status.retryAfterMs > retryAfterMs) retryAfterMs = status.retryAfterMs;
    if (part.charge >= 0 && part.cost > 0 && isTighter(status, speaks, allowed)) speaks = status;
  }
  return {
    allowed: allowed || answerer.mode === 'shadow',
    wouldBe,
    at: outcome.now,
    retryAfterMs,
    reason: allowed ? 'admitted' : refusal(step.charges, verdicts),
    decidedBy,
    atomic: outcome.atomic ?? true,
    bound: outcome.bound ?? 0,
    tier: question.tier,
    tightest: speaks,
    receipt: allowed && step.op === 'consume' ? receiptOf(answerer, question, outcome) : undefined,
    failure: outcome.cause,
    limits,
  };
}

function statusOf(limit: PlannedLimit, asked: Asked, verdict: Verdict | undefined): LimitStatus {
  const { values, resolved, cost } = asked;
  return {
    name: limit.name,
    key: values === undefined ? null : shownKey(values),
    mode: limit.mode,
    skipped: values === undefined,
    allowed: verdict === undefined || verdict.admits,
    cost,
    charged: verdict?.charged ? cost : 0,
    limit: resolved.limit,
    heldBack: asked.heldBack,
    remaining: verdict === undefined ? Number.POSITIVE_INFINITY : verdict.remaining,
    retryAfterMs: verdict === undefined ? 0 : verdict.retryAfterMs,
    resetAfterMs: verdict === undefined ? 0 : verdict.resetAfterMs,
    moreAfterMs: verdict === undefined ? 0 : verdict.moreAfterMs,
  };
}

/** The first that applies: only held back, never, not now. */
function refusal(charges: readonly Charge[], verdicts: readonly Verdict[]): Reason {
  let heldBack = true;
  let never = false;
  for (let i = 0; i < charges.length; i += 1) {
    const verdict = verdicts[i] as Verdict;
    if (verdict.admits || !(charges[i] as Charge).enforce) continue;
    if (!verdict.heldBack) heldBack = false;
    if (verdict.retryAfterMs === Number.POSITIVE_INFINITY) never = true;
  }
  if (heldBack) return 'held-back';
  return never ? 'cost-above-limit' : 'over-limit';
}

function receiptOf(answerer: Answerer, question: Question, outcome: AskOutcome): string {
  const { asked, step } = question;
  let text = answerer.receipts.next(outcome.by === 'fallback' ? outcome.by : undefined);
  let opening = FIRST_ENTRY;
  for (let i = 0; i < asked.length; i += 1) {
    const { charge, resolved } = asked[i] as Asked;
    const verdict = charge < 0 ? undefined : outcome.verdicts[charge];
    if (verdict === undefined || !verdict.admits) continue;
    const { ledger, cost } = step.charges[charge] as Charge;
    const entries = resolved.receipts as ReceiptEntries;
    text = entries.add(text, opening, ledger, verdict.charged ? cost : 0, verdict.mark);
    opening = LATER_ENTRY;
  }
  return endReceipt(text, opening === LATER_ENTRY);
}

/** No store answered: the chosen word decides. The numbers are unknown then: `remaining` is 0 and says nothing about the subject. */
function decideByPolicy(answerer: Answerer, question: Question, fault: FaultOutcome): Decision {
  const word = question.step.onFailure ?? 'throw';
  if (word === 'throw') {
    throw new LimiterError(
      'ERR_LIMITER_STORE_FAILURE',
      `the store failed (${fault.fault}) and onStoreFailure is "throw": ${causeText(fault.cause)}`,
      {
        cause: fault.cause,
      },
    );
  }
  const allowed = word === 'allow';
  const retryAfterMs = allowed ? 0 : Math.max(1, fault.retryAfterMs ?? FAILED_RETRY_AFTER_MS);
  const limits: Record<string, LimitStatus> = {};
  for (let i = 0; i < question.asked.length; i += 1) {
    const limit = answerer.plan.limits[i] as PlannedLimit;
    const asked = question.asked[i] as Asked;
    const status = statusOf(limit, asked, undefined);
    const refuses = !allowed && asked.charge >= 0 && asked.cost > 0;
    limits[limit.name] =
      asked.charge < 0
        ? status
        : { ...status, allowed: !refuses, remaining: 0, retryAfterMs: refuses ? retryAfterMs : 0 };
  }
  return {
    allowed: allowed || answerer.mode === 'shadow',
    wouldBe: allowed,
    at: answerer.now(),
    retryAfterMs,
    reason: 'store-failure',
    decidedBy: 'policy',
    atomic: true,
    bound: allowed ? Number.POSITIVE_INFINITY : 0,
    tier: question.tier,
    tightest: undefined,
    receipt: undefined,
    failure: fault,
    limits,
  };
}
