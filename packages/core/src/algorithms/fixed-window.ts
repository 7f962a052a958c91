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
import type { Algorithm, GivenBack, Numbers } from './algorithm.js';
import type { WindowState } from './state.js';
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

function view(state: WindowState | undefined, rule: FixedWindowRule, now: number): WindowView {
  // The stored start decides, never an expiry time kept elsewhere.
  if (state === undefined || now - state.start >= rule.windowMs) {
    const start = windowStart(rule, now);
    return { kind: 'fresh', start, used: 0, id: 0, endsInMs: start + rule.windowMs - now };
  }
  if (state.start - now > STEP_BACK_MS) {
    const start = windowStart(rule, now);
    return { kind: 'moved', start, used: state.used, id: 0, endsInMs: start + rule.windowMs - now };
  }
  return {
    kind: 'current',
    start: state.start,
    used: state.used,
    id: state.id,
    endsInMs: state.start + rule.windowMs - now,
  };
}

function admits(view: WindowView, rule: FixedWindowRule, cost: number, holdBack: number): boolean {
  return cost <= rule.limit - holdBack - view.used;
}

function waitMs(view: WindowView): number {
  return view.endsInMs;
}

function numbers(view: WindowView, rule: FixedWindowRule, holdBack: number, added = 0): Numbers {
  const budget = rule.limit - holdBack;
  const used = view.used + added;
  return {
    remaining: Math.max(0, budget - used),
    resetAfterMs: used > 0 ? view.endsInMs : 0,
    moreAfterMs: used > 0 && budget > 0 ? view.endsInMs : 0,
  };
}

function charge(view: WindowView, _rule: FixedWindowRule, cost: number, newId: () => number): WindowState {
  return { start: view.start, used: view.used + cost, id: view.kind === 'current' ? view.id : newId() };
}

/** A charge with the clock a little behind counts at the window's start; where in the window it lies never matters. */
function mark(_view: WindowView, next: WindowState): Mark {
  return { id: next.id, at: next.start, position: 0 };
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
