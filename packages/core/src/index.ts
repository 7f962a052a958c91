/** The public face of @limiter/core; reading it is reading the API. */
export { type Adjusting, adjust } from './algorithms/adjust.js';
export type { Algorithm, GivenBack, Numbers } from './algorithms/algorithm.js';
export { algorithms } from './algorithms/by-name.js';
export { fullAgainAt } from './algorithms/by-rule.js';
export type { BucketState, Change, LedgerState, LogChange, LogState, WindowState } from './algorithms/state.js';
export type { Asking, AskingStore } from './asking.js';
export type { DecidedBy, Decision, LimitStatus, Reason } from './decision.js';
export { type DenialMemory, type DenialMemoryOptions, withDenialMemory } from './denial-memory.js';
export { type Duration, parseDuration, parseRate, type Rate } from './duration.js';
export { LimiterError, type LimiterErrorCode } from './errors.js';
export { type Evaluation, evaluate, type KeptEvaluation, newEvaluation } from './evaluate.js';
export { type BreakerOptions, withBreaker } from './failure/breaker.js';
export { type DeadlineOptions, withDeadline } from './failure/deadline.js';
export type { Decorated } from './failure/decorate.js';
export type {
  BreakerClosedEvent,
  BreakerOpenedEvent,
  LateAnswerEvent,
  OnStoreEvent,
  StoreEvent,
  StoreFailureEvent,
  StoreRecoveredEvent,
} from './failure/events.js';
export { type FallbackOptions, withFallback } from './failure/fallback.js';
export { type ObservationOptions, withObservation } from './failure/observation.js';
export { type ProtectOptions, protect } from './failure/protect.js';
export {
  type Amount,
  type ByTier,
  type FixedWindowOptions,
  fixedWindow,
  type Limit,
  type LimitOptions,
  type Mode,
  type Refill,
  type Reserve,
  slidingWindowLog,
  type TokenBucketOptions,
  tokenBucket,
  type WindowOptions,
} from './limit.js';
export { createLimiter } from './limiter.js';
export type {
  Adjustments,
  Args,
  Call,
  Cost,
  FailureOptions,
  Fallback,
  Judged,
  Limiter,
  LimiterOptions,
  Names,
  NeverFails,
  NoFailure,
  Once,
  Part,
  ResetOptions,
  Subject,
  SyncLimiter,
} from './limiter-types.js';
export {
  type AlgorithmName,
  type FixedWindowRule,
  type Rule,
  ruleGrid,
  ruleLimit,
  type SlidingWindowLogRule,
  type TokenBucketRule,
} from './rule.js';
export { addShortcuts } from './shortcuts.js';
export type {
  Adjusted,
  Adjustment,
  AdjustOutcome,
  AdjustStep,
  AskOutcome,
  AskStep,
  Charge,
  DeadlineSignal,
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
