/** Who is asking: a call's subject, checked against the axes that the limits name. */
import { LimiterError, shown } from './errors.js';
import { ownValue } from './own-value.js';
import type { PlannedLimit } from './plan.js';

/** A subject that was checked: the value of the only axis, or a record of the axes. */
export type Checked = string | { readonly [axis: string]: string | null };

/** Checks a subject, and reads each value once: a getter cannot answer the check one thing and the limits another. @throws LimiterError ERR_LIMITER_SUBJECT */
export function checkSubject(axes: readonly string[], subject: unknown): Checked {
  if (axes.length === 1 && axes[0] === 'subject') {
    if (typeof subject !== 'string')
      throw new LimiterError('ERR_LIMITER_SUBJECT', `subject must be a string, got ${shown(subject)}`);
    return subject;
  }
  if (typeof subject !== 'object' || subject === null || Array.isArray(subject)) {
    const rule =
      axes.length === 0
        ? 'subject must be {} (every limit is by "*")'
        : `subject must be a record of the axes ${axes.join(', ')}`;
    throw new LimiterError('ERR_LIMITER_SUBJECT', `${rule}, got ${shown(subject)}`);
  }
  const values: Record<string, string | null> = {};
  for (const axis of axes) {
    const value = ownValue(subject, axis);
    if (typeof value !== 'string' && value !== null) {
      throw new LimiterError(
        'ERR_LIMITER_SUBJECT',
        `subject.${axis} must be a string, or null where it does not apply, got ${shown(value)}`,
      );
    }
    values[axis] = value;
  }
  return values;
}

/** The values of a limit's axes in its own order; undefined when one does not apply, so that the limit is skipped. */
export function axisValues(limit: PlannedLimit, subject: Checked): readonly string[] | undefined {
  if (typeof subject === 'string') return limit.axes.length === 0 ? [] : [subject];
  const values: string[] = [];
  for (const axis of limit.axes) {
    const value = subject[axis];
    if (typeof value !== 'string') return undefined;
    values.push(value);
  }
  return values;
}

/** How a status shows its key: the value of a single axis as it is, several as a JSON list, '' for everybody. */
export function shownKey(values: readonly string[]): string {
  return values.length === 1 ? (values[0] as string) : values.length === 0 ? '' : JSON.stringify(values);
}
