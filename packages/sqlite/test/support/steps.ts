/** Steps in short form. */
import {
  type AskOutcome,
  type AskStep,
  type Charge,
  type FixedWindowRule,
  type Outcome,
  type Rule,
  ruleGrid,
  type Verdict,
} from '@limiter/core';
import { resultCode } from '../../src/faults.js';

export const HOUR = 3_600_000;

export function fixedWindow(limit: number, windowMs: number = HOUR): FixedWindowRule {
  return { algorithm: 'fixed-window', limit, windowMs, align: 'clock', offsetMs: 0 };
}

export function charge(rule: Rule, cost = 1, values: readonly string[] = ['someone'], name = 'test/limit'): Charge {
  return { ledger: { name, grid: ruleGrid(rule), values }, rule, cost, holdBack: 0, enforce: true };
}

export function consume(...charges: readonly Charge[]): AskStep {
  return { op: 'consume', charges };
}

export function peek(...charges: readonly Charge[]): AskStep {
  return { op: 'peek', charges };
}

/** The outcome of a question; a fault is an error. */
export function asked(outcome: Outcome | undefined): AskOutcome {
  if (outcome?.ok !== true || outcome.op === 'adjust' || outcome.op === 'reset') {
    throw new Error(`an answer was expected, got ${JSON.stringify(outcome)}`, {
      cause: outcome?.ok === false ? outcome.cause : undefined,
    });
  }
  return outcome;
}

export function only(outcome: Outcome | undefined): Verdict {
  return asked(outcome).verdicts[0] as Verdict;
}

/** SQLite's result codes that tests meet: https://sqlite.org/rescode.html */
const NAMES: Readonly<Record<number, string>> = {
  1: 'ERROR',
  5: 'BUSY',
  8: 'READONLY',
  11: 'CORRUPT',
  13: 'FULL',
  26: 'NOTADB',
};

/** Kind and cause of a fault, the same for both drivers. */
export function faultOf(outcome: Outcome | undefined): string {
  if (outcome?.ok !== false) return `no fault: ${JSON.stringify(outcome)}`;
  const { code, message } = outcome.cause as { readonly code?: string; readonly message?: string };
  return `${outcome.fault}: ${NAMES[resultCode(outcome.cause) ?? 0] ?? (code?.startsWith('ERR_LIMITER') ? code : message)}`;
}
