/**
 * Fixed window: at most `limit` cost in each window.
 *
 * ```
 * limit 3 per 10 s, aligned to 0             a charge at t belongs to the window floor(t / window)
 * 0         10        20 (s)                 t = 10 opens the next window (closed left, open right)
 * |--xx-x---|x--------|                      refused at 9: retryAfter = 10 - 9 = 1 s
 * ```
 *
 * used(now) = cost admitted in the window that holds `now`. Bound: `limit` in a window, and up to 2 x `limit` in an
 * interval of the same length that straddles a boundary; choose the sliding log where that matters.
 * With `align: 'first-request'` the window starts at the first admitted charge after the last one ended.
 */
import type { FixedWindowRule } from '../rule.js';
import type { Mark } from '../store.js';
import { type Algorithm, type GivenBack, type Numbers, newMark, newNumbers, type Writable } from './algorithm.js';
import { newWindowState, type WindowState } from './state.js';
import { MAX, STEP_BACK_MS } from './time.js';

/** The window that counts at `now`. `fresh`: none is open; `moved`: the clock was set back and the window goes with it. */
export interface WindowView {
  readonly kind: 'fresh' | 'current' | 'moved';
  readonly start: number;
  readonly used: number;
  readonly id: number;
  /** From `now` to the end of the window; with a clock a little behind, the time until it has caught up is part of it. */
  readonly endsInMs: number;
}

/** The start of the window that holds `now`. */
export function windowStart(rule: FixedWindowRule, now: number): number {
  if (rule.align === 'first-request') return now;
  const sinceStart = (now - rule.offsetMs) % rule.windowMs;
  return now - (sinceStart < 0 ? sinceStart + rule.windowMs : sinceStart);
}

export function newWindowView(): Writable<WindowView> {
  return { kind: 'fresh', start: 0, used: 0, id: 0, endsInMs: 0 };
}

function view(state: WindowState | undefined, rule: FixedWindowRule, now: number, into = newWindowView()): WindowView {
  // The stored start decides, never an expiry time kept elsewhere.
  if (state === undefined || now - state.start >= rule.windowMs) {
    into.kind = 'fresh';
    into.start = windowStart(rule, now);
    into.used = 0;
    into.id = 0;
  } else if (state.start - now > STEP_BACK_MS) {
    into.kind = 'moved';
    into.start = windowStart(rule, now);
    into.used = state.used;
    into.id = 0;
  } else {
    into.kind = 'current';
    into.start = state.start;
    into.used = state.used;
    into.id = state.id;
  }
  into.endsInMs = into.start + rule.windowMs - now;
  return into;
}

function admits(view: WindowView, rule: FixedWindowRule, cost: number, holdBack: number): boolean {
  return cost <= rule.limit - holdBack - view.used;
}

function waitMs(view: WindowView): number {
  return view.endsInMs;
}

function numbers(
  view: WindowView,
  rule: FixedWindowRule,
  holdBack: number,
  added: number,
  into = newNumbers(),
): Numbers {
  const budget = rule.limit - holdBack;
  const used = view.used + added;
  into.remaining = budget > used ? budget - used : 0;
  into.resetAfterMs = used > 0 ? view.endsInMs : 0;
  into.moreAfterMs = used > 0 && budget > 0 ? view.endsInMs : 0;
  return into;
}

function charge(
  view: WindowView,
  _rule: FixedWindowRule,
  cost: number,
  newId: () => number,
  into: Writable<WindowState> = newWindowState(),
): WindowState {
  into.start = view.start;
  into.used = view.used + cost;
  into.id = view.kind === 'current' ? view.id : newId();
  return into;
}

/** A charge with the clock a little behind counts at the window's start; where in the window it lies never matters. */
function mark(_view: WindowView, next: WindowState, into = newMark()): Mark {
  into.id = next.id;
  into.at = next.start;
  into.position = 0;
  return into;
}

function move(view: WindowView, newId: () => number): WindowState | undefined {
  return view.kind === 'moved' ? { start: view.start, used: view.used, id: newId() } : undefined;
}

function roomToSettle(view: WindowView, rule: FixedWindowRule): number {
  return Math.max(0, Math.min(2 * rule.limit, MAX) - view.used);
}

/** Only while that window is the current one: another window, or the same one moved by a step back, has another identity. */
function giveBack(view: WindowView, _rule: FixedWindowRule, charged: number, mark: Mark, amount: number): GivenBack {
  if (view.kind !== 'current' || view.id !== mark.id) return { givenBack: 0, change: undefined };
  const givenBack = Math.min(amount, charged, view.used);
  if (givenBack === 0) return { givenBack, change: undefined };
  return { givenBack, change: { start: view.start, used: view.used - givenBack, id: view.id } };
}

export const fixedWindowAlgorithm: Algorithm<FixedWindowRule, WindowState, WindowView, WindowState> = {
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
