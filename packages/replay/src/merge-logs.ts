/**
 * Several logs as one, by time: the logs of two front ends that share their limits, or of one server, rotated, in any
 * order. Each log is read as far as it is needed and no further.
 */
import type { LoggedRequest } from './in-order.js';

/** Batches of requests, each log in its own order. On equal times the log named first goes first. */
export async function* mergeLogs(
  logs: readonly AsyncIterable<readonly LoggedRequest[]>[],
): AsyncGenerator<readonly LoggedRequest[]> {
  if (logs.length === 1) {
    yield* logs[0] as AsyncIterable<readonly LoggedRequest[]>;
    return;
  }
  const open: Head[] = [];
  try {
    for (const log of logs) {
      const head: Head = { reader: log[Symbol.asyncIterator](), batch: [], next: 0 };
      if (await refill(head)) open.push(head);
      else await head.reader.return?.();
    }
    while (open.length > 0) {
      const out: LoggedRequest[] = [];
      let first = earliest(open);
      out.push(take(first));
      // Until a log must be read on, nothing is awaited.
      while (first.next < first.batch.length) {
        first = earliest(open);
        out.push(take(first));
      }
      yield out;
      if (!(await refill(first))) open.splice(open.indexOf(first), 1);
    }
  } finally {
    for (const { reader } of open) await reader.return?.();
  }
}

interface Head {
  readonly reader: AsyncIterator<readonly LoggedRequest[]>;
  batch: readonly LoggedRequest[];
  next: number;
}

async function refill(head: Head): Promise<boolean> {
  do {
    const { done, value } = await head.reader.next();
    if (done) return false;
    head.batch = value;
    head.next = 0;
  } while (head.batch.length === 0);
  return true;
}

const take = (head: Head): LoggedRequest => head.batch[head.next++] as LoggedRequest;
const timeOf = (head: Head): number => (head.batch[head.next] as LoggedRequest).request.at;

function earliest(heads: readonly Head[]): Head {
  let first = heads[0] as Head;
  for (const head of heads) if (timeOf(head) < timeOf(first)) first = head;
  return first;
}
