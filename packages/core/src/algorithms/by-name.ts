/** The three algorithms by name: for what is not decided often. `evaluate` goes by a switch (by-rule.ts). */
import type { AlgorithmName, Rule } from '../rule.js';
import type { Algorithm } from './algorithm.js';
import { fixedWindowAlgorithm } from './fixed-window.js';
import { slidingWindowLogAlgorithm } from './sliding-window-log.js';
import type { LedgerState } from './state.js';
import { tokenBucketAlgorithm } from './token-bucket.js';

type AnyAlgorithm = Algorithm<Rule, LedgerState, unknown>;

/** The algorithm of a rule. The state that comes with a rule is the one that its ledger's grid names, so the pairing holds by construction. */
export const algorithms: Readonly<Record<AlgorithmName, AnyAlgorithm>> = {
  'fixed-window': fixedWindowAlgorithm as unknown as AnyAlgorithm,
  'sliding-window-log': slidingWindowLogAlgorithm as unknown as AnyAlgorithm,
  'token-bucket': tokenBucketAlgorithm as unknown as AnyAlgorithm,
};
