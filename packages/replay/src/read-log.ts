/** One log -> its requests in the order of time, a block's worth at a time; every line is accounted for on the way. */
import { inOrder, type LoggedRequest } from './in-order.js';
import type { LineTally } from './line-tally.js';
import type { OpenLog } from './open-log.js';
import type { ParseLine } from './parse-line.js';
import { readLines } from './read-lines.js';

export interface ReadLogOptions {
  readonly parse: ParseLine;
  readonly tally: LineTally;
  /** How far behind a newer line a line is still put in order. */
  readonly reorderMs: number;
  /** Bytes taken from the file. */
  readonly onRead: (bytes: number) => void;
}

/** `log`: the place of this log among all. */
export async function* readLog(
  file: OpenLog,
  log: number,
  options: ReadLogOptions,
): AsyncGenerator<readonly LoggedRequest[]> {
  const { parse, tally, reorderMs, onRead } = options;
  const order = inOrder(reorderMs);
  let line = 0;
  for await (const lines of readLines(file.blocks(onRead))) {
    const ready: LoggedRequest[] = [];
    for (const text of lines) {
      line++;
      const request = parse(text);
      if (typeof request === 'string') {
        tally.unreadable(request, log, line);
        continue;
      }
      const entry = { request, log, line };
      tally.request(entry, order.push(entry, ready));
    }
    tally.lines(log, lines.length);
    yield ready;
  }
  const rest: LoggedRequest[] = [];
  order.finish(rest);
  yield rest;
}
