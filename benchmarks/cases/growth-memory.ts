/** Does a decision in this process take longer with more keys, more limits, more log entries? */
import { type AskStep, createLimiter, type Rule, ruleGrid, tokenBucket } from '@limiter/core';
import { memoryStore } from '@limiter/memory';
import { emit } from '../harness/emit.js';
import { type Contender, race } from '../harness/race.js';
import type { Entry, Result } from '../harness/result.js';
import { part, quick } from '../harness/settings.js';

const ample = tokenBucket({ capacity: 1_000_000_000, refill: '10/1s' });

/** Keys in disorder. */
function keys(count: number): Contender {
  const limiter = createLimiter({ name: 'api', store: memoryStore({ max: count }), limits: { a: ample } });
  const names = Array.from({ length: count }, (_, i) => `user:${i}`);
  const order = Uint32Array.from({ length: 1 << 20 }, () => Math.floor(Math.random() * count));
  for (const name of names) limiter.consumeSync(name);
  let at = 0;
  return {
    name: String(count),
    role: 'ours',
    run(calls) {
      for (let i = 0; i < calls; i += 1) {
        at = (at + 1) & ((1 << 20) - 1);
        limiter.consumeSync(names[order[at] as number] as string);
      }
    },
  };
}

function limits(count: number): Contender {
  const named = Object.fromEntries(Array.from({ length: count }, (_, i) => [`limit${i}`, ample]));
  const limiter = createLimiter({ name: 'api', store: memoryStore(), limits: named });
  return {
    name: String(count),
    role: 'ours',
    run(calls) {
      for (let i = 0; i < calls; i += 1) limiter.consumeSync('user:1');
    },
  };
}

type Question = 'admit' | 'peek' | 'denied, cost 1' | 'denied, cost = limit' | 'denied, any cost';

/** A full log on a clock turned by hand: each admit adds an entry and one expires. */
function log(entries: number, question: Question): Contender {
  let now = 1_700_000_000_000;
  const store = memoryStore({ clock: () => now });
  const rule: Rule = { algorithm: 'sliding-window-log', limit: 10 * entries + 10, windowMs: entries };
  const ask = (op: AskStep['op'], cost: number, limit = rule.limit): void => {
    const ledger = { name: 'api/log', grid: ruleGrid(rule), values: ['someone'] };
    store.runSync({ op, charges: [{ ledger, rule: { ...rule, limit }, cost, holdBack: 0, enforce: true }] });
  };
  const admit = (): void => {
    now += 1;
    ask('consume', 10);
  };
  for (let i = 0; i < 2 * entries; i += 1) admit();
  const full = 10 * entries;
  const acts: Readonly<Record<Question, (i: number) => void>> = {
    admit,
    peek: () => ask('peek', 1),
    'denied, cost 1': () => ask('consume', 1, full),
    'denied, cost = limit': () => ask('consume', full, full),
    'denied, any cost': (i) => ask('consume', 1 + ((i * 7_919) % full), full),
  };
  const act = acts[question];
  return {
    name: String(entries),
    role: 'ours',
    run(calls) {
      for (let i = 0; i < calls; i += 1) act(i);
    },
  };
}

/** The contenders are named by their size: that becomes `x`. */
function grown(result: Result, axis: string, name: string): Result {
  const entries = result.entries.map(
    ({ samples, ...entry }): Entry => ({ ...entry, x: Number(entry.name), name, samples }),
  );
  return { ...result, axis, entries };
}

if (part === 'keys') {
  const sizes = quick ? [1_000, 10_000] : [1_000, 10_000, 100_000, 1_000_000];
  const result = await race({ id: 'growth keys', title: 'Growth: keys in memory, asked in disorder' }, sizes.map(keys));
  emit(grown(result, 'keys', 'a decision'));
}
if (part === 'limits') {
  const result = await race(
    { id: 'growth limits', title: 'Growth: limits in one decision, in memory' },
    [1, 2, 3, 4, 6, 8].map(limits),
  );
  emit(grown(result, 'limits', 'a decision'));
}
if (part === 'log') {
  const sizes = quick ? [10, 1_000] : [10, 1_000, 100_000];
  const questions: readonly Question[] = [
    'admit',
    'peek',
    'denied, cost 1',
    'denied, cost = limit',
    'denied, any cost',
  ];
  const about = { id: 'growth log memory', title: 'Growth: live entries of a sliding log, in memory' };
  const all: Entry[] = [];
  for (const question of questions) {
    const result = await race(
      about,
      sizes.map((size) => log(size, question)),
      { roundMs: 8 },
    );
    all.push(...grown(result, 'entries', question).entries);
  }
  emit({ ...about, unit: 'ns a call', better: 'less', axis: 'entries', entries: all });
}
process.exit(0);
