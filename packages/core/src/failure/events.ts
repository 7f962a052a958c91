/** What the failure handling tells whoever wants to watch it. No logger and no metrics client: plain data to a function. */
import type { Failure, Fault } from '../store.js';

/** A decision could not be made by the store; `word` says what was done instead. */
export interface StoreFailureEvent {
  readonly type: 'store-failure';
  readonly fault: Fault;
  readonly cause: unknown;
  /** The word of the step that failed; undefined for a step that has none (reset). */
  readonly word: Failure | undefined;
  /** How many such events were left out since the last one that was told. */
  readonly suppressed: number;
}

/** The store decides again. Told once for each `store-failure` that was told, at most. */
export interface StoreRecoveredEvent {
  readonly type: 'store-recovered';
  /** Steps that failed since the store last decided. */
  readonly failures: number;
  readonly outageMs: number;
}

/** The breaker stops asking the store, except one probe each `probeAfterMs`. */
export interface BreakerOpenedEvent {
  readonly type: 'breaker-opened';
  readonly failures: number;
  readonly probeAfterMs: number;
  readonly cause: unknown;
}

export interface BreakerClosedEvent {
  readonly type: 'breaker-closed';
  readonly openMs: number;
}

/**
 * The store admitted a consume after the deadline had answered for it.
 * - `kept`: the word was 'allow': the call went ahead, so the charge stands.
 * - `given-back`: the call was refused or decided elsewhere, so the charge was taken off again.
 * - `not-given-back`: that was tried once and failed; the charge stands until it expires.
 */
export interface LateAnswerEvent {
  readonly type: 'late-answer';
  readonly result: 'kept' | 'given-back' | 'not-given-back';
  /** Decisions. */
  readonly count: number;
  /** How long after the question the answer came. */
  readonly afterMs: number;
  readonly suppressed: number;
}

export type StoreEvent =
  | StoreFailureEvent
  | StoreRecoveredEvent
  | BreakerOpenedEvent
  | BreakerClosedEvent
  | LateAnswerEvent;

export type OnStoreEvent = (event: StoreEvent) => void;

/** `onEvent` such that a throw or rejection in it never reaches a decision, or the process. */
export function safely(onEvent: OnStoreEvent | undefined): OnStoreEvent {
  if (onEvent === undefined) return () => {};
  return (event) => {
    try {
      const answer = onEvent(event) as unknown;
      if (answer instanceof Promise) answer.catch(() => {});
    } catch {
      // Whoever watches must not break what is watched.
    }
  };
}

/**
 * Lets one `store-failure` and one `late-answer` of each result through per `intervalMs`, the first at once; each says how
 * many were left out before it. Other events are rare by themselves and pass. Answers whether the event was told. No timer.
 *
 * @example
 * const tell = throttled(console.warn, 60_000); // an outage of an hour gives 60 lines, not 3,600,000
 */
export function throttled(
  onEvent: OnStoreEvent,
  intervalMs: number,
  now: () => number,
): (event: StoreEvent) => boolean {
  const last = new Map<string, { at: number; suppressed: number }>();
  return (event) => {
    if (event.type !== 'store-failure' && event.type !== 'late-answer') {
      onEvent(event);
      return true;
    }
    const kind = event.type === 'late-answer' ? event.result : event.type;
    const at = now();
    const seen = last.get(kind);
    if (seen !== undefined && at - seen.at < intervalMs) {
      seen.suppressed += event.type === 'late-answer' ? event.count : 1;
      return false;
    }
    last.set(kind, { at, suppressed: 0 });
    onEvent({ ...event, suppressed: seen?.suppressed ?? 0 });
    return true;
  };
}
