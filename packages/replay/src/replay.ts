/** Logs and limits in, a report out: read, put in order, merge, judge, tally. Memory grows with live keys only. */
import { isInternalAddress } from './client-address.js';
import { quoted, ReplayError } from './errors.js';
import type { LoggedRequest } from './in-order.js';
import { createJudge } from './judge.js';
import { LimitTally } from './limit-tally.js';
import type { LimitSpec } from './limit-text.js';
import { LineTally } from './line-tally.js';
import { mergeLogs } from './merge-logs.js';
import { openLog } from './open-log.js';
import { lineParser } from './parse-line.js';
import { readLog } from './read-log.js';
import { overTime, RefusalTally, type Whole } from './refusals.js';
import type { ReplayReport } from './report.js';
import { Distinct, Frequencies } from './tallies.js';
import { Timeline } from './timeline.js';
import { number, plural, REASONS } from './words.js';

export interface Progress {
  readonly bytes: number;
  /** undefined where the size of a log is not known (standard input). */
  readonly size: number | undefined;
  readonly lines: number;
}

export interface ReplayOptions {
  /** Files, plain or gzip, `-` for standard input. Several are merged by time. */
  readonly logs: readonly string[];
  readonly limits: readonly LimitSpec[];
  /** How far behind a newer line a line is still put in order. Default 60,000 ms. */
  readonly reorderMs?: number;
  /** Default 128: each IPv6 address is a client. */
  readonly ipv6Prefix?: number;
  /** How many of the worst clients are reported. Default 5. */
  readonly worst?: number;
  /** In how many stretches of time refusals are counted, at most. Default 60. */
  readonly columns?: number;
  /** Ledgers held at once. Default 1,000,000. */
  readonly maxKeys?: number;
  /** Hears after each block how far the replay is. */
  readonly onProgress?: (progress: Progress) => void;
}

/**
 * @throws ReplayError for a log that cannot be read or has no readable line, and for a limit that the core refuses
 * @example await replay({ logs: ['access.log'], limits: parseLimitTexts(['20/60s sliding-window-log by ip']) })
 */
export async function replay(options: ReplayOptions): Promise<ReplayReport> {
  const { limits, reorderMs = 60_000, worst = 5, columns = 60, maxKeys = 1_000_000 } = options;
  const files = options.logs.map(openLog);
  const judge = createJudge(limits, maxKeys);
  const tally = new LineTally(options.logs);
  const traffic = new Traffic();
  const all = new RefusalTally();
  const each = limits.map((spec, index) => new LimitTally(spec, index));

  const parse = lineParser(options.ipv6Prefix === undefined ? {} : { ipv6Prefix: options.ipv6Prefix });
  const size = files.reduce<number | undefined>(
    (sum, file) => (sum === undefined || file.size === undefined ? undefined : sum + file.size),
    0,
  );
  let bytes = 0;
  const onRead = (more: number): void => {
    bytes += more;
    options.onProgress?.({ bytes, size, lines: tally.read });
  };
  for await (const batch of mergeLogs(
    files.map((file, log) => readLog(file, log, { parse, tally, reorderMs, onRead })),
  )) {
    for (const entry of batch) {
      traffic.add(entry);
      const verdicts = judge.judge(entry.request);
      all.add(entry, !verdicts.together.allowed);
      let refusing = 0;
      for (const { name, shadow } of limits) if (!shadow && !verdicts.together.limits[name]?.allowed) refusing++;
      for (const limit of each) limit.add(entry, verdicts, refusing);
    }
  }
  const { logs, lines } = tally.report();
  if (lines.requests === 0 && lines.unreadable.length > 0) throw noRequests(lines);

  const whole: Whole = { ...traffic, logs: options.logs, worst, columns };
  const refusals = all.refusals(whole);
  return {
    format: 1,
    logs,
    lines,
    ...traffic.report(whole),
    together: { allowed: lines.requests - refusals.refused, ...refusals },
    limits: each.map((limit) => limit.report(whole)),
    evictedLiveKeys: judge.evicted,
  };
}

/** All requests, refused or not. */
class Traffic {
  readonly clients = new Distinct();
  readonly requestsOf = new Frequencies(250_000);
  from = Number.POSITIVE_INFINITY;
  to = Number.NEGATIVE_INFINITY;
  readonly #when = new Timeline();
  readonly #internal = new Set<string>();
  #internalRequests = 0;
  #offsetMinutes = 0;

  add({ request: { at, client, offsetMinutes } }: LoggedRequest): void {
    if (this.from > this.to) this.#offsetMinutes = offsetMinutes;
    this.from = Math.min(this.from, at);
    this.to = Math.max(this.to, at);
    this.#when.add(at);
    if (this.clients.add(client) && isInternalAddress(client)) this.#internal.add(client);
    if (this.#internal.has(client)) this.#internalRequests++;
    this.requestsOf.add(client);
  }

  report(whole: Whole): Pick<ReplayReport, 'span' | 'clients' | 'requestsOverTime'> {
    const { from, to, clients } = this;
    const iso = (at: number): string => new Date(at).toISOString();
    return {
      span: from > to ? null : { from: iso(from), to: iso(to), ms: to - from, offsetMinutes: this.#offsetMinutes },
      clients: { count: clients.count, exact: clients.exact, internalRequests: this.#internalRequests },
      requestsOverTime: overTime(this.#when, whole),
    };
  }
}

function noRequests({ read, unreadable }: ReplayReport['lines']): ReplayError {
  const reasons = unreadable.map(
    ({ reason, lines, example: { log, line } }) =>
      `${number(lines)} x ${REASONS[reason]} (first: ${quoted(log)} line ${line})`,
  );
  return new ReplayError(
    'ERR_LIMITER_NO_REQUESTS',
    `none of ${plural(read, 'line')} is a request in the common or combined log format: ${reasons.join('; ')}`,
  );
}
