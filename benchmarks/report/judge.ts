/** Goals against results. */
import type { Goal } from '../goals/bounds.js';
import { GOALS } from '../goals.js';
import type { Figure, Result } from '../harness/result.js';
import { lookUp } from './look-up.js';

export interface Judged {
  readonly goal: Goal;
  readonly value: Figure | undefined;
  readonly verdict: 'met' | 'missed' | 'not measured';
}

/** The median decides. */
export function judged(results: readonly Result[]): Judged[] {
  const from = lookUp(results);
  return GOALS.map((goal) => {
    const value = goal.value(from);
    if (value === undefined || Number.isNaN(value.median)) return { goal, value: undefined, verdict: 'not measured' };
    const holds = goal.sense === '>=' ? value.median >= goal.bound : value.median <= goal.bound;
    return { goal, value, verdict: holds ? 'met' : 'missed' };
  });
}
