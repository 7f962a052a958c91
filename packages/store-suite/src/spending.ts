/** Charges to give back or to settle. */
import { strict as assert } from 'node:assert';
import type { Charge, Rule, Verdict } from '@limiter/core';
import { type Bench, only } from './bench.js';

export interface Charged {
  readonly charge: Charge;
  readonly verdict: Verdict;
}

/** Charges `cost` of someone's ledger, which must fit. */
export async function spend(bench: Bench, rule: Rule, name: string, cost: number): Promise<Charged> {
  const charge = bench.charge(rule, name, cost);
  const verdict = only(await bench.consume(charge));
  assert.equal(verdict.charged, true, `${cost} fits`);
  return { charge, verdict };
}

/** What remains of the charge's ledger. */
export const left = async (bench: Bench, { charge }: Charged): Promise<number> =>
  only(await bench.peek({ ...charge, cost: 0 })).remaining;
