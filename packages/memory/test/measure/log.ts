/**
 * Time of a step on a sliding log with 10, 1,000 and 100,000 live entries, in CPU ns, beside that with 10.
 *
 * Run: node --conditions=@limiter/source --import tsx packages/memory/test/measure/log.ts
 */
import {
  type AdjustStep,
  type AskOutcome,
  type AskStep,
  type Mark,
  ruleGrid,
  type SlidingWindowLogRule,
} from '@limiter/core';
import { type MemoryStore, memoryStore } from '../../src/index.js';

const SIZES = [10, 1_000, 100_000];
const LAPS = 21;

interface Bed {
  now: number;
  newest: number;
  readonly store: MemoryStore;
  readonly rule: SlidingWindowLogRule;
  readonly marks: Mark[];
}

function ask(bed: Bed, op: AskStep['op'], cost: number, limit = bed.rule.limit): AskOutcome {
  const rule = { ...bed.rule, limit };
  const ledger = { name: 'api/log', grid: ruleGrid(rule), values: ['someone'] };
  return bed.store.runSync({ op, charges: [{ ledger, rule, cost, holdBack: 0, enforce: true }] }) as AskOutcome;
}

function refund(bed: Bed, mark: Mark, amount: number): void {
  const ledger = { name: 'api/log', grid: ruleGrid(bed.rule), values: ['someone'] };
  const adjustment = { ledger, rule: bed.rule, mark, charged: 10, change: 'give-back', amount } as const;
  const step: AdjustStep = { op: 'adjust', adjustments: [adjustment] };
  bed.store.runSync(step);
}

/** A log of `size` live entries of cost 10 each, one a millisecond. */
function bedOf(size: number): Bed {
  const rule: SlidingWindowLogRule = { algorithm: 'sliding-window-log', limit: 10 * size + 10, windowMs: size };
  const bed: Bed = { now: 1_700_000_000_000, newest: 0, store: memoryStore({ clock: () => bed.now }), rule, marks: [] };
  for (let i = 0; i < 2 * size; i += 1) admit(bed);
  return bed;
}

function admit(bed: Bed): void {
  bed.now += 1;
  const mark = ask(bed, 'consume', 10).verdicts[0]?.mark;
  if (mark === undefined) return;
  bed.marks[mark.position % 131_072] = mark;
  bed.newest = mark.position;
}

function markBack(bed: Bed, back: number): Mark {
  return bed.marks[(bed.newest - back) % 131_072] as Mark;
}

const CASES: Record<string, (bed: Bed, size: number) => (i: number) => void> = {
  admit: (bed) => () => admit(bed),
  peek: (bed) => () => void ask(bed, 'peek', 1),
  'denied, cost 1': (bed, size) => () => void ask(bed, 'consume', 1, 10 * size),
  'denied, cost the limit': (bed, size) => () => void ask(bed, 'consume', 10 * size, 10 * size),
  'denied, another cost': (bed, size) => (i) => void ask(bed, 'consume', 1 + ((i * 7919) % (10 * size)), 10 * size),
  'peek over expired entries': (bed, size) => {
    bed.now += 2 * size;
    return () => void ask(bed, 'peek', 1);
  },
  refund: (bed, size) => {
    const marks = Array.from({ length: 2_000 }, (_, i) => markBack(bed, 1 + ((i * 31) % Math.max(1, size - 2))));
    return (i) => refund(bed, marks[i % marks.length] as Mark, 1);
  },
  'admit, 1,000 live refunds': (bed, size) => {
    for (let i = 0; i < 1_000; i += 1)
      refund(bed, markBack(bed, Math.floor((i * size) / 1_000) % Math.max(1, size - 2)), 1);
    return () => admit(bed);
  },
  'denied, another cost, 1,000 live refunds': (bed, size) => {
    for (let i = 0; i < 1_000; i += 1)
      refund(bed, markBack(bed, Math.floor((i * size) / 1_000) % Math.max(1, size - 2)), 1);
    return (i) => void ask(bed, 'consume', 1 + ((i * 7919) % (10 * size)), 9 * size);
  },
};

function lap(f: (i: number) => void, times: number): number {
  const before = process.cpuUsage();
  for (let i = 0; i < times; i += 1) f(i);
  const { user, system } = process.cpuUsage(before);
  return (1_000 * (user + system)) / times;
}

for (const [name, make] of Object.entries(CASES)) {
  const beds = SIZES.map((size) => make(bedOf(size), size));
  for (const f of beds) lap(f, 5_000);
  const laps = beds.map((): number[] => []);
  for (let i = 0; i < LAPS; i += 1) for (const [n, f] of beds.entries()) laps[n]?.push(lap(f, 5_000));
  const medians = laps.map((all) => all.sort((a, b) => a - b)[(LAPS - 1) / 2] as number);
  const shown = medians.map(
    (ns, n) => `${SIZES[n]}: ${ns.toFixed(0)} ns (${(ns / (medians[0] as number)).toFixed(2)}x)`,
  );
  console.log(name.padEnd(42), shown.join('   '));
}

// Once only, so one by one: the first consume after a long silence, when that has happened to other logs before.
const small = bedOf(10);
for (let i = 0; i < 100_000; i += 1) {
  if (i % 20 === 0) small.now += 100;
  admit(small);
}
const silence = SIZES.map((size) => {
  const times = Array.from({ length: 9 }, () => {
    const bed = bedOf(size);
    bed.now += 10 * size;
    const start = performance.now();
    admit(bed);
    return 1e6 * (performance.now() - start);
  });
  return `${size}: ${(times.sort((a, b) => a - b)[4] as number).toFixed(0)} ns`;
});
console.log('first consume after silence (wall clock)'.padEnd(42), silence.join('   '));
