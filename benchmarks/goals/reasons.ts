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
      'three waits, exact to the ms, and a receipt as text when it was admitted. Reading the clock, making that record and writing that ' +
      'text take longer than the whole call of the peer ([where the time goes](#memory-where-the-time-of-a-synchronous-decision-goes)).',
  },
  {
    group: /^Redis, one denied key/,
    why:
      'A denial from memory ends at the exact millisecond and is a record of its own, so each takes a reading of the clock and a record; with the promise ' +
      'that every contender makes, these alone take about what the goal allows.',
  },
  {
    group: /^Redis, .*256 in flight( over|$)/,
    why:
      'Client and server share two cores, and the server has become the smaller part: what is left is the client, above all the promise, the record and ' +
      'the receipt of each decision. The floor that carries one tick in one call makes none of them.',
  },
  {
    group: /^Redis, 1 limit, one at a time/,
    why:
      'Nothing is shared with other calls here. The script reads the time, the ledger and writes it where a counter is incremented, in caches that ' +
      'have gone cold since the last call; on the client come the deadline, the breaker and the record.',
  },
  {
    group: /^Redis server CPU/,
    why: 'A decision says more than a counter: the script reads the time and both numbers of a ledger, and answers with all that the waits are computed from.',
  },
  {
    group: /^SQLite/,
    why:
      "A charge takes about what a hand-written transaction takes (the floor): six file locks and a page that goes into the write-ahead log, which are SQLite's own. " +
      'Three limits need one transaction around one statement of three rows; one row for all of them would be less, and [is not worth its price](./decisions/008-sqlite-writes-little.md).',
  },
  {
    group: /^Replay/,
    why:
      'A log of 100,000 lines is judged before the heap has come to the size at which the garbage collector holds it. From there on the memory does not ' +
      'grow: see the row from 1,000,000 to 3,000,000 lines.',
  },
  {
    group: /^Sliding log/,
    why: 'A log of 100,000 entries is searched in a tree of three levels, one of 10 in one; a cost in the middle needs the longest way.',
  },
  {
    group: /^Size/,
    why:
      'Nothing can be left out of createLimiter(): each input is checked and refused with its value and the rule, receipts are read and written, and the ' +
      'failure policy (deadline, breaker, fallback, late answers) is there for every store that can fail. A store carries three algorithms, and those for Redis and ' +
      'Upstash the Lua program, about 10 kB of the figure.',
  },
];
