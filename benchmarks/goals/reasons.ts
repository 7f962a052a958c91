/** Why a goal is missed, by the case that it belongs to. Said in the report where one of the case's goals is missed, and only there. */

interface Reason {
  readonly group: RegExp;
  readonly why: string;
}

export const REASONS: readonly Reason[] = [
  {
    group: /^Memory, (one hot key|3 limits|async call)/,
    why:
      'The goals were set beside a boolean and a counter. A decision here is a record of its own for each caller: every limit with ' +
      'three waits, and a receipt as text when it was admitted. Reading the clock, making that record and writing that text already ' +
      'take longer than the whole call of the peer ([where the time goes](#memory-where-the-time-of-a-synchronous-decision-goes)).',
  },
];
