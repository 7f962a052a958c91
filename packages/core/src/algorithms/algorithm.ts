/**
 * The shape that the three algorithms share, so that `evaluate` and `adjust` are written once. Every function is pure but for
 * `into`: what it answers is written there, and is a new record where none is given. Who decides often keeps one.
 */
import type { Mark } from '../store.js';
import type { Change } from './state.js';

export type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** What a limit reports after a step. */
export interface Numbers {
  readonly remaining: number;
  readonly resetAfterMs: number;
  readonly moreAfterMs: number;
}

/** Records to write into, of the shapes that the algorithms make. */
export function newNumbers(): Writable<Numbers> {
  return { remaining: 0, resetAfterMs: 0, moreAfterMs: 0 };
}

export function newMark(): Writable<Mark> {
  return { id: 0, at: 0, position: 0 };
}

/** What a refund gave back, in whole units of cost, and what to store; `change` is undefined when nothing was given back. */
export interface GivenBack {
  readonly givenBack: number;
  readonly change: Change | undefined;
}

export interface Algorithm<Rule, State, View, Next extends Change = Change> {
  /** The ledger as it is judged at `now`: expired, or waiting for a clock that is a little behind, or moved with one that is far behind. */
  view(state: State | undefined, rule: Rule, now: number, into?: Writable<View>): View;
  /** Does `cost` fit beside what is used, with `holdBack` kept free? */
  admits(view: View, rule: Rule, cost: number, holdBack: number): boolean;
  /** The least wait after which `cost` fits; only asked when it does not fit now and `cost <= limit - holdBack`. */
  waitMs(view: View, rule: Rule, cost: number, holdBack: number): number;
  /** What is reported once `added` more was charged to the ledger that `view` shows (0: nothing was). */
  numbers(view: View, rule: Rule, holdBack: number, added: number, into?: Writable<Numbers>): Numbers;
  /** What to store when `cost` > 0 is added, which was found to fit (or which nothing refuses). */
  charge(view: View, rule: Rule, cost: number, newId: () => number, into?: Writable<Next>): Next;
  /** Where the charge that made `next` of `view` lies. */
  mark(view: View, next: Next, into?: Writable<Mark>): Mark;
  /** The move to store when nothing is charged; undefined when the ledger did not move. */
  move(view: View, newId: () => number): Change | undefined;
  /** How much a charge that nothing refuses may still add, in whole units: up to twice the limit. */
  roomToSettle(view: View, rule: Rule): number;
  giveBack(view: View, rule: Rule, charged: number, mark: Mark, amount: number): GivenBack;
}
