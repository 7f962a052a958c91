/** A full sliding log in memory, on a clock turned by hand: each admit adds an entry and one expires. */
import { type AskOutcome, type AskStep, type Mark, type Rule, ruleGrid } from '@limiter/core';
import { memoryStore } from '@limiter/memory';
import type { Contender } from '../harness/race.js';

export const QUESTIONS = [
  'admit',
  'peek',
  'denied, cost 1',
  'denied, cost = limit',
  'denied, any cost',
  'refund',
  'admit, 1,000 live refunds',
  'denied, any cost, 1,000 live refunds',
] as const;
export const FIRST = 'first charge after silence';

type Question = (typeof QUESTIONS)[number];

/** As many marks as there are entries in the largest log, and more. */
const MARKS = 131_072;

class Log {
  readonly #store = memoryStore({ clock: () => this.now });
  readonly #rule: Rule;
  readonly #marks: Mark[] = [];
  #newest = 0;
  now = 1_700_000_000_000;
  readonly full: number;
  readonly entries: number;
  readonly #remembers: boolean;

  /** @param remembers keeps the marks, for refunds. */
  constructor(entries: number, remembers: boolean) {
    this.entries = entries;
    this.#remembers = remembers;
    this.full = 10 * entries;
    this.#rule = { algorithm: 'sliding-window-log', limit: this.full + 10, windowMs: entries };
    for (let i = 0; i < 2 * entries; i += 1) this.admit();
  }

  get #ledger() {
    return { name: 'api/log', grid: ruleGrid(this.#rule), values: ['someone'] };
  }

  ask(op: AskStep['op'], cost: number, limit: number): AskOutcome {
    const rule = { ...this.#rule, limit } as Rule;
    return this.#store.runSync({
      op,
      charges: [{ ledger: this.#ledger, rule, cost, holdBack: 0, enforce: true }],
    }) as AskOutcome;
  }

  admit(): void {
    this.now += 1;
    const mark = this.ask('consume', 10, this.full + 10).verdicts[0]?.mark;
    if (mark === undefined || !this.#remembers) return;
    this.#newest = mark.position;
    this.#marks[mark.position % MARKS] = mark;
  }

  /** The mark of the entry that is so many before the newest one. */
  mark(back: number): Mark {
    return this.#marks[(this.#newest - back) % MARKS] as Mark;
  }

  refund(mark: Mark): void {
    const adjustment = {
      ledger: this.#ledger,
      rule: this.#rule,
      mark,
      charged: 10,
      change: 'give-back',
      amount: 1,
    } as const;
    this.#store.runSync({ op: 'adjust', adjustments: [adjustment] });
  }

  /** Up to 1,000, spread over the log. */
  refundMany(): this {
    const live = Math.max(1, this.entries - 2);
    for (let i = 0; i < 1_000; i += 1) this.refund(this.mark(Math.floor((i * this.entries) / 1_000) % live));
    return this;
  }
}

function actOf(bed: Log, question: Question): (i: number) => void {
  const { full, entries } = bed;
  const any = (i: number): number => 1 + ((i * 7_919) % full);
  switch (question) {
    case 'admit':
      return () => bed.admit();
    case 'peek':
      return () => bed.ask('peek', 1, full + 10);
    case 'denied, cost 1':
      return () => bed.ask('consume', 1, full);
    case 'denied, cost = limit':
      return () => bed.ask('consume', full, full);
    case 'denied, any cost':
      return (i) => bed.ask('consume', any(i), full);
    case 'refund': {
      const marks = Array.from({ length: 2_000 }, (_, i) => bed.mark(1 + ((i * 31) % Math.max(1, entries - 2))));
      return (i) => bed.refund(marks[i % marks.length] as Mark);
    }
    case 'admit, 1,000 live refunds':
      bed.refundMany();
      return () => bed.admit();
    case 'denied, any cost, 1,000 live refunds':
      bed.refundMany();
      return (i) => bed.ask('consume', any(i), 9 * entries);
  }
}

export function log(entries: number, question: Question): Contender {
  const act = actOf(new Log(entries, true), question);
  return {
    name: String(entries),
    role: 'ours',
    run(calls) {
      for (let i = 0; i < calls; i += 1) act(i);
    },
  };
}

/** What one call costs alone, by the clock on the wall, is mostly code and caches that went cold: so many logs fall silent at once. */
export const SILENT_LOGS = 32;

/** ns a call, each the first of a log of its own, in a store of its own, all of whose entries have expired. */
function silences(entries: number, count: number): number[] {
  const logs = Array.from({ length: SILENT_LOGS }, () => new Log(entries, false));
  return Array.from({ length: count }, () => {
    for (let i = 0; i < entries; i += 1) for (const log of logs) log.admit();
    for (const log of logs) log.now += 10 * entries;
    const began = performance.now();
    for (const log of logs) log.admit();
    return (1e6 * (performance.now() - began)) / SILENT_LOGS;
  });
}

export function firstAfterSilence(entries: number): number[] {
  // Many short ones before, so that the engine has seen that logs fall silent: what is timed is the work.
  silences(100, 500);
  return silences(entries, 9);
}
