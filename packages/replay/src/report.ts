/** The result of a replay as plain data: what `--json` prints, and all that the text is drawn from. */

import type { AlgorithmName } from '@limiter/core';
import type { Axis } from './axes.js';
import type { Unreadable } from './parse-line.js';
import type { Oddity } from './request-line.js';

/** Where a line stands. */
export interface Place {
  readonly log: string;
  readonly line: number;
}

/** A request, with its time in ISO 8601 (UTC). */
export interface Moment extends Place {
  readonly at: string;
  readonly client: string;
  readonly method: string | null;
  readonly path: string | null;
}

/** `exact: false`: the true number is this or more. */
export interface Total {
  readonly count: number;
  readonly exact: boolean;
}

export interface WorstClient {
  readonly client: string;
  readonly refused: Total;
  /** Its requests in all, refused or not. */
  readonly requests: Total;
  /** The path that it was refused most often; null where its requests had none. */
  readonly busiestPath: string | null;
  readonly busiestPathRefused: number;
}

export interface Refusals {
  readonly refused: number;
  /** Of the requests that were judged, 0 .. 1. */
  readonly share: number;
  readonly clients: Total;
  /** Of all clients in the log, 0 .. 1. */
  readonly clientShare: number;
  readonly first: Moment | null;
  readonly worst: readonly WorstClient[];
  /** Refusals in consecutive stretches of `columnMs`, the first beginning at `from`. */
  readonly overTime: OverTime;
}

export interface OverTime {
  readonly from: string;
  readonly columnMs: number;
  readonly counts: readonly number[];
}

/** The largest `used` that one ledger reached, the first time it did. */
export interface Peak extends Moment {
  readonly used: number;
  /** The limit or capacity. */
  readonly of: number;
  /** Whose ledger: the values of the limit's axes in their order; empty for everybody. */
  readonly ledger: readonly string[];
}

export interface LimitReport {
  readonly name: string;
  /** The limit in the grammar of `--limit`. */
  readonly limit: string;
  readonly algorithm: AlgorithmName;
  /** Empty for everybody. */
  readonly by: readonly Axis[];
  readonly mode: 'enforce' | 'shadow';
  /** Requests that this limit was asked about, and those it does not apply to: the log has `-` for one of its axes. */
  readonly judged: number;
  readonly skipped: number;
  /** As one of all limits: a request that any of them refuses is charged to none. `refused`: this limit said no. */
  readonly together: Refusals & {
    /** Refused by this limit and by no other enforced one. */
    readonly onlyThis: number;
    readonly peak: Peak | null;
  };
  /** If it were the only limit, and enforced. */
  readonly alone: Refusals & { readonly peak: Peak | null };
}

export interface LinesOfOneKind<K extends string> {
  readonly reason: K;
  readonly lines: number;
  readonly example: Place;
}

export interface ReplayReport {
  /** Grows when a field changes its meaning or goes; new fields may come at any time. */
  readonly format: 1;
  readonly logs: readonly { readonly name: string; readonly lines: number }[];
  readonly lines: {
    readonly read: number;
    readonly requests: number;
    readonly blank: number;
    readonly unreadable: readonly LinesOfOneKind<Unreadable>[];
    /** Requests all the same, counted in `requests`. */
    readonly odd: readonly LinesOfOneKind<Oddity>[];
    /** Older than a line before them, and put in order. */
    readonly sorted: number;
    /** Older by more than that: the limits saw the clock step back. */
    readonly stepsBack: LinesOfOneKind<'step-back'> | null;
  };
  readonly span: {
    readonly from: string;
    readonly to: string;
    readonly ms: number;
    readonly offsetMinutes: number;
  } | null;
  readonly clients: Total & {
    /** Requests from private, loopback and link-local addresses. */
    readonly internalRequests: number;
  };
  readonly requestsOverTime: OverTime;
  /** All limits as one question. */
  readonly together: Refusals & { readonly allowed: number };
  readonly limits: readonly LimitReport[];
  /** Ledgers that had to be forgotten while they still counted, because too many were live: the figures may be too low. */
  readonly evictedLiveKeys: number;
}
