/**
 * Sliding window log: at most `limit` cost in any interval of `windowMs`, exactly.
 *
 * ```
 * limit 3 per 10 s                           a charge at t counts while now - t < window: in (now - window, now]
 * 0    4   8    10   14                      at 10 the charge of 0 no longer counts
 * x----x---x----|x---|                       refused at 9: retryAfter = 0 + 10 - 9 = 1 s
 * ```
 *
 * Each charge is one entry whatever its cost. The waits ask for the time of the unit that has to expire first, which a
 * store answers by search (`timeOfUnit`), never by walking the entries.
 */
import type { SlidingWindowLogRule } from '../rule.js';
import type { Mark } from '../store.js';
import { type Algorithm, type GivenBack, type Numbers, newMark, newNumbers, type Writable } from './algorithm.js';
import type { LogChange, LogState } from './state.js';
import { MAX, STEP_BACK_MS } from './time.js';

/** The log as it is judged at `at`, a time in stored coordinates (before the pending shift). */
export interface LogView {
  readonly log: LogState | undefined;
  /** `now`, or the newest entry's time when the clock is behind it. */
  readonly at: number;
  /** How far the clock is behind the anchor, when that is little. */
  readonly behindMs: number;
  /** How much earlier every entry moves, when the clock is far behind. */
  readonly shiftMs: number;
  readonly used: number;
}

export function newLogView(): Writable<LogView> {
  return { log: undefined, at: 0, behindMs: 0, shiftMs: 0, used: 0 };
}

function view(log: LogState | undefined, rule: SlidingWindowLogRule, now: number, into = newLogView()): LogView {
  const back = log === undefined ? 0 : Math.max(0, log.newestAt - now);
  const far = back > STEP_BACK_MS;
  into.log = log;
  into.at = now + back;
  into.behindMs = far ? 0 : back;
  into.shiftMs = far ? back : 0;
  into.used = log === undefined ? 0 : log.usedAfter(into.at - rule.windowMs);
  return into;
}

function admits(view: LogView, rule: SlidingWindowLogRule, cost: number, holdBack: number): boolean {
  return cost <= rule.limit - holdBack - view.used;
}

/** The least wait after which at least `amount` of what is used no longer counts; 0 when `amount` is 0. */
function waitUntilFreed(view: LogView, rule: SlidingWindowLogRule, amount: number): number {
  if (amount <= 0) return 0;
  // What is not in the log has just been charged, at `view.at`.
  const stored = view.log !== undefined && amount <= view.used;
  const at = stored ? view.log.timeOfUnit(amount, view.at - rule.windowMs) : view.at;
  return at + rule.windowMs - view.at + view.behindMs;
}

function waitMs(view: LogView, rule: SlidingWindowLogRule, cost: number, holdBack: number): number {
  return waitUntilFreed(view, rule, cost - (rule.limit - holdBack - view.used));
}

function numbers(
  view: LogView,
  rule: SlidingWindowLogRule,
  holdBack: number,
  added: number,
  into = newNumbers(),
): Numbers {
  const budget = rule.limit - holdBack;
  const used = view.used + added;
  into.remaining = Math.max(0, budget - used);
  into.resetAfterMs = waitUntilFreed(view, rule, used);
  into.moreAfterMs = used > 0 && budget > 0 ? waitUntilFreed(view, rule, Math.max(0, used - budget) + 1) : 0;
  return into;
}

function charge(view: LogView, _rule: SlidingWindowLogRule, cost: number, newId: () => number): LogChange {
  const { log, shiftMs } = view;
  return { create: log === undefined ? newId() : undefined, shiftMs, append: { at: view.at - shiftMs, cost } };
}

function mark(view: LogView, next: LogChange, into = newMark()): Mark {
  const { log } = view;
  into.id = log === undefined ? (next.create as number) : log.id;
  into.at = view.at - view.shiftMs;
  into.position = log === undefined ? 0 : log.nextPosition;
  return into;
}

function move(view: LogView): LogChange | undefined {
  return view.shiftMs > 0 ? { shiftMs: view.shiftMs } : undefined;
}

function roomToSettle(view: LogView, rule: SlidingWindowLogRule): number {
  return Math.max(0, Math.min(2 * rule.limit, MAX) - view.used);
}

/** From that entry, while it counts. */
function giveBack(view: LogView, rule: SlidingWindowLogRule, charged: number, mark: Mark, amount: number): GivenBack {
  const none: GivenBack = { givenBack: 0, change: undefined };
  if (view.log === undefined || view.log.id !== mark.id) return none;
  const entry = view.log.entry(mark.position);
  if (entry === undefined || entry.at <= view.at - rule.windowMs) return none;
  const givenBack = Math.min(amount, charged, entry.kept);
  if (givenBack === 0) return none;
  return { givenBack, change: { shiftMs: 0, giveBack: { position: mark.position, amount: givenBack } } };
}

export const slidingWindowLogAlgorithm: Algorithm<SlidingWindowLogRule, LogState, LogView, LogChange> = {
  view,
  admits,
  waitMs,
  numbers,
  charge,
  mark,
  move,
  roomToSettle,
  giveBack,
};
