/** The public face of @limiter/core; reading it is reading the API. */
export type { Algorithm, Charged, GivenBack, Numbers } from './algorithms/algorithm.js';
export type { BucketState, Change, LedgerState, LogChange, LogState, WindowState } from './algorithms/state.js';
export { LimiterError, type LimiterErrorCode } from './errors.js';
export { type Adjusting, adjust, algorithms, type Evaluation, evaluate, fullAgainAt } from './evaluate.js';
export {
  type AlgorithmName,
  type FixedWindowRule,
  type Rule,
  ruleGrid,
  ruleLimit,
  type SlidingWindowLogRule,
  type TokenBucketRule,
} from './rule.js';
export type {
  Adjusted,
  Adjustment,
  AdjustOutcome,
  AdjustStep,
  AskOutcome,
  AskStep,
  Charge,
  Failure,
  Fault,
  FaultOutcome,
  Ledger,
  Mark,
  Outcome,
  OutcomeOf,
  ResetOutcome,
  ResetStep,
  Step,
  Store,
  SyncStore,
  Traits,
  Verdict,
} from './store.js';
