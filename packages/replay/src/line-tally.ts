/** What became of every line: a request, nothing, or a line that could not be read, and why. */
import type { LoggedRequest } from './in-order.js';
import type { Unreadable } from './parse-line.js';
import type { LinesOfOneKind, ReplayReport } from './report.js';

export class LineTally {
  readonly #logs: readonly string[];
  readonly #read: number[];
  #requests = 0;
  #blank = 0;
  #sorted = 0;
  readonly #unreadable: Kinds<Unreadable>;
  readonly #odd: Kinds<'nothing' | 'malformed'>;
  readonly #stepsBack: Kinds<'step-back'>;

  constructor(logs: readonly string[]) {
    this.#logs = logs;
    this.#read = logs.map(() => 0);
    this.#unreadable = new Kinds(logs);
    this.#odd = new Kinds(logs);
    this.#stepsBack = new Kinds(logs);
  }

  get read(): number {
    return this.#read.reduce((sum, lines) => sum + lines, 0);
  }

  get requests(): number {
    return this.#requests;
  }

  lines(log: number, more: number): void {
    this.#read[log] = (this.#read[log] as number) + more;
  }

  unreadable(reason: Unreadable | 'blank', log: number, line: number): void {
    if (reason === 'blank') this.#blank++;
    else this.#unreadable.add(reason, log, line);
  }

  request({ request, log, line }: LoggedRequest, order: 'moved' | 'step-back' | undefined): void {
    this.#requests++;
    if (request.odd !== null) this.#odd.add(request.odd, log, line);
    if (order === 'moved') this.#sorted++;
    if (order === 'step-back') this.#stepsBack.add(order, log, line);
  }

  report(): Pick<ReplayReport, 'logs' | 'lines'> {
    return {
      logs: this.#logs.map((name, index) => ({ name, lines: this.#read[index] as number })),
      lines: {
        read: this.read,
        requests: this.#requests,
        blank: this.#blank,
        unreadable: this.#unreadable.report(),
        odd: this.#odd.report(),
        sorted: this.#sorted,
        stepsBack: this.#stepsBack.report()[0] ?? null,
      },
    };
  }
}

/** Lines by kind, each with its first example. */
class Kinds<K extends string> {
  readonly #logs: readonly string[];
  readonly #kinds = new Map<K, { lines: number; readonly log: number; readonly line: number }>();

  constructor(logs: readonly string[]) {
    this.#logs = logs;
  }

  add(kind: K, log: number, line: number): void {
    const seen = this.#kinds.get(kind);
    if (seen) seen.lines++;
    else this.#kinds.set(kind, { lines: 1, log, line });
  }

  report(): readonly LinesOfOneKind<K>[] {
    return [...this.#kinds]
      .map(([reason, { lines, log, line }]) => ({ reason, lines, example: { log: this.#logs[log] as string, line } }))
      .sort((a, b) => b.lines - a.lines);
  }
}
