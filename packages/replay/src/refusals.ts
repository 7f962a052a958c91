/** Tallies of one judge - all limits together, one as part of them, or one alone - in memory that does not grow with the log. */
import type { LoggedRequest } from './in-order.js';
import type { Moment, OverTime, Peak, Refusals, Total, WorstClient } from './report.js';
import { Distinct, Frequencies } from './tallies.js';
import { Timeline } from './timeline.js';

/** What a tally must know of the whole to state shares. */
export interface Whole {
  readonly logs: readonly string[];
  readonly clients: Distinct;
  readonly requestsOf: Frequencies;
  readonly from: number;
  readonly to: number;
  readonly worst: number;
  readonly columns: number;
}

export class RefusalTally {
  #judged = 0;
  #refused = 0;
  #first: LoggedRequest | undefined;
  #peak:
    | { readonly used: number; readonly of: number; readonly ledger: readonly string[]; readonly entry: LoggedRequest }
    | undefined;
  readonly #clients = new Distinct();
  readonly #worst = new Frequencies(10_000);
  /** `client path`; a client has no space in it. */
  readonly #paths = new Frequencies(50_000);
  readonly #when = new Timeline();

  get judged(): number {
    return this.#judged;
  }

  add(entry: LoggedRequest, refused: boolean): void {
    this.#judged++;
    if (!refused) return;
    const { client, path, at } = entry.request;
    this.#refused++;
    this.#first ??= entry;
    this.#clients.add(client);
    this.#worst.add(client);
    this.#paths.add(`${client} ${path ?? ''}`);
    this.#when.add(at);
  }

  /** `ledger` is asked for only when `used` is a new peak. */
  use(entry: LoggedRequest, used: number, of: number, ledger: () => readonly string[]): void {
    if (used > (this.#peak?.used ?? 0)) this.#peak = { used, of, ledger: ledger(), entry };
  }

  refusals(whole: Whole): Refusals {
    return {
      refused: this.#refused,
      share: share(this.#refused, this.#judged),
      clients: total(this.#clients),
      clientShare: share(this.#clients.count, whole.clients.count),
      first: this.#first ? momentOf(this.#first, whole.logs) : null,
      worst: this.#worst.top(whole.worst).map(({ key, count, exact }): WorstClient => {
        const path = this.#paths.topOf(`${key} `);
        const text = path?.key.slice(key.length + 1);
        return {
          client: key,
          refused: { count, exact },
          requests: total(whole.requestsOf.get(key) ?? { count, exact: false }),
          busiestPath: text === undefined || text === '' ? null : text,
          busiestPathRefused: path?.count ?? 0,
        };
      }),
      overTime: overTime(this.#when, whole),
    };
  }

  peak({ logs }: Whole): Peak | null {
    if (!this.#peak) return null;
    const { used, of, ledger, entry } = this.#peak;
    return { used, of, ledger, ...momentOf(entry, logs) };
  }
}

export function overTime(when: Timeline, { from, to, columns }: Whole): OverTime {
  if (from > to) return { from: new Date(0).toISOString(), columnMs: 0, counts: [] };
  const drawn = when.columns(from, to, columns);
  return { from: new Date(drawn.from).toISOString(), columnMs: drawn.columnMs, counts: drawn.counts };
}

const total = ({ count, exact }: Total): Total => ({ count, exact });

/** Six digits are enough for one request in a million. */
export const share = (part: number, of: number): number =>
  of === 0 ? 0 : Math.round((part / of) * 1_000_000) / 1_000_000;

function momentOf({ request, log, line }: LoggedRequest, logs: readonly string[]): Moment {
  const { at, client, method, path } = request;
  return { at: new Date(at).toISOString(), log: logs[log] as string, line, client, method, path };
}
