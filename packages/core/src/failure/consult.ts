/**
 * The whole of what stands between a limiter and its store (protect.ts), for one step and without promises between the layers: the
 * breaker admits, the deadline watches, the store is asked, and its answer passes breaker, observer and fallback on the way back.
 */

import type { Asking, AskingStore } from '../asking.js';
import { LimiterError } from '../errors.js';
import type { Outcome, Step } from '../store.js';
import { checkedOne, fault, isDead } from './answers.js';
import type { Breaker } from './breaker.js';
import type { Deadline } from './deadline.js';
import type { Waiting } from './expiry.js';
import { type Finish, isForFallback } from './fallback.js';
import type { Observe } from './observation.js';
import { monotonicNow } from './time.js';

/** Tells the outcome of a step, once: at once or later. `failed` gets a mistake of the caller's, or what `told` throws. */
export type Consult = (step: Step, told: Told, failed: Failed) => void;

type Told = (outcome: Outcome) => void;
type Failed = (error: unknown) => void;

export interface Layers {
  readonly store: AskingStore;
  readonly deadline: Deadline;
  readonly breaker: Breaker | undefined;
  readonly observe: Observe;
  readonly finish: Finish;
}

export function consulting(layers: Layers): Consult {
  const { store, deadline, breaker, observe } = layers;
  return (step, told, failed) => {
    if (isForFallback(step)) return tell(layers, step, undefined, told, failed);
    const waitMs = breaker === undefined ? 0 : breaker.admission();
    if (waitMs > 0) {
      const refusal = (breaker as Breaker).refusal(waitMs);
      observe(step, refusal);
      return tell(layers, step, refusal, told, failed);
    }
    const consultation = new Consultation(layers, step, told, failed);
    const time = deadline.now();
    deadline.expiry.wait(consultation, time);
    // A stranger's clock says nothing on the one that stores read.
    consultation.deadlineAt = (deadline.now === monotonicNow ? time : monotonicNow()) + deadline.timeoutMs;
    try {
      store.ask(consultation);
    } catch (error) {
      consultation.fail(error);
    }
  };
}

function tell({ finish }: Layers, step: Step, outcome: Outcome | undefined, told: Told, failed: Failed): void {
  try {
    told(finish(step, outcome));
  } catch (error) {
    failed(error);
  }
}

/** One call, from the question to whichever comes first: the answer, or the end of the wait. The only object that it costs. */
class Consultation implements Waiting, Asking {
  dueAt = 0;
  deadlineAt = 0;
  open = false;
  before: Waiting | undefined = undefined;
  after: Waiting | undefined = undefined;
  timer: Waiting['timer'] = undefined;
  readonly step: Step;
  aborted = false;
  onAbort: (() => void) | undefined = undefined;
  private answered = false;
  private givenUp = false;
  private readonly era: number;
  private readonly layers: Layers;
  private readonly told: Told;
  private readonly failed: Failed;

  constructor(layers: Layers, step: Step, told: Told, failed: Failed) {
    this.layers = layers;
    this.step = step;
    this.told = told;
    this.failed = failed;
    this.era = layers.breaker === undefined ? 0 : layers.breaker.era;
  }

  get reason(): unknown {
    return this.layers.deadline.timedOut();
  }

  abort(): void {
    this.aborted = true;
    try {
      this.onAbort?.();
    } catch {
      // A mistake of the store's. What it can still say it has said, and `giveUp` says the rest.
    }
  }

  giveUp(): void {
    this.givenUp = true;
    this.settle(fault('unknown-outcome', this.layers.deadline.timedOut()));
  }

  answer(answer: Outcome): void {
    if (this.answered) return;
    this.answered = true;
    const outcome = checkedOne(this.step, answer);
    if (this.givenUp) {
      this.layers.deadline.late([this.step], [outcome], this.dueAt);
    } else {
      this.layers.deadline.expiry.forget(this);
      this.settle(outcome);
    }
  }

  fail(error: unknown): void {
    if (!(error instanceof LimiterError)) {
      this.answer(fault('unknown-outcome', error));
      return;
    }
    if (this.answered) return;
    this.answered = true;
    // After `giveUp` this changes nothing: the caller has its answer.
    if (this.givenUp) return;
    this.layers.deadline.expiry.forget(this);
    this.layers.breaker?.mistaken(this.era);
    this.failed(error);
  }

  private settle(outcome: Outcome): void {
    const { breaker, observe } = this.layers;
    if (breaker !== undefined) {
      if (outcome.ok || !isDead(outcome)) breaker.seen(undefined, this.era);
      else breaker.seen(outcome, this.era);
    }
    observe(this.step, outcome);
    tell(this.layers, this.step, outcome, this.told, this.failed);
  }
}
