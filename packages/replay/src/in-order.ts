/**
 * Puts the requests of one log in the order of their time. A server writes a line when it has answered but may date it
 * by the arrival (Apache `%t`), so a slow request stands behind later ones:
 *
 *     line  1  20:03:50 GET /a         held back until a line is `windowMs` newer,
 *     line  2  20:03:52 GET /fast      then given out as 1, 3, 2
 *     line  3  20:03:51 GET /slow      requests of one instant stay in line order
 *
 * A line still older than that is a step back of the log's clock - or a second log behind the first. What is held is
 * given out, and the order starts anew from there; the limits then follow the library's rule for a clock that steps back.
 */
import type { LogRequest } from './parse-line.js';

/** A request and where it stands: `log` counts from 0 in the order given, `line` from 1. */
export interface LoggedRequest {
  readonly request: LogRequest;
  readonly log: number;
  readonly line: number;
}

export interface InOrder {
  /** Takes one line; appends to `out` what is ready. Says what was unusual: the line was 'moved' up or is a 'step-back'. */
  push(entry: LoggedRequest, out: LoggedRequest[]): 'moved' | 'step-back' | undefined;
  /** The log has ended: appends the rest. */
  finish(out: LoggedRequest[]): void;
}

/** At most `maxHeld` requests are held back; a busier log is put in order within a shorter time. */
export function inOrder(windowMs: number, maxHeld: number = 100_000): InOrder {
  /** One group an instant, oldest first. */
  let groups: { readonly at: number; readonly entries: LoggedRequest[] }[] = [];
  let held = 0;
  let newest = Number.NEGATIVE_INFINITY;

  const release = (upTo: number, out: LoggedRequest[]): void => {
    let count = 0;
    while (count < groups.length && ((groups[count] as { at: number }).at <= upTo || held > maxHeld)) {
      const { entries } = groups[count++] as (typeof groups)[number];
      for (const entry of entries) out.push(entry);
      held -= entries.length;
    }
    if (count > 0) groups = groups.slice(count);
  };

  return {
    push(entry, out) {
      const { at } = entry.request;
      const stepBack = at < newest - windowMs;
      if (stepBack) {
        release(newest, out);
        newest = at;
      }
      const moved = at < newest;
      newest = Math.max(newest, at);
      let index = groups.length;
      while (index > 0 && (groups[index - 1] as { at: number }).at > at) index--;
      const group = groups[index - 1];
      if (group?.at === at) group.entries.push(entry);
      else groups.splice(index, 0, { at, entries: [entry] });
      held++;
      release(newest - windowMs, out);
      return stepBack ? 'step-back' : moved ? 'moved' : undefined;
    },
    finish(out) {
      release(Number.POSITIVE_INFINITY, out);
    },
  };
}
