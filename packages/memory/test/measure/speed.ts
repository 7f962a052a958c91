/**
 * Time of one synchronous step, in CPU ns, beside one reading of the clock. CPU time, because other programs run too.
 *
 * Run: node --conditions=@limiter/source --import tsx packages/memory/test/measure/speed.ts [case]
 * Each case is best run in a process of its own: what one has taught the engine changes the next.
 */
import { type AskStep, createLimiter, evaluate, type Rule, ruleGrid, type SyncStore, tokenBucket } from '@limiter/core';
import { memoryStore } from '../../src/index.js';

const AMPLE = 1_000_000_000;
const RULES = {
  bucket: { algorithm: 'token-bucket', capacity: AMPLE, refillTokens: 10, refillMs: 1_000 },
  drained: { algorithm: 'token-bucket', capacity: 1, refillTokens: 1, refillMs: 10_000_000 },
  window: { algorithm: 'fixed-window', limit: AMPLE, windowMs: 60_000, align: 'clock', offsetMs: 0 },
  log: { algorithm: 'sliding-window-log', limit: AMPLE, windowMs: 1_000 },
} as const satisfies Record<string, Rule>;

function stepOf(rules: readonly Rule[], key: string): AskStep {
  const charges = rules.map((rule, i) => ({
    ledger: { name: `api/limit${i}`, grid: ruleGrid(rule), values: [key] },
    rule,
    cost: 1,
    holdBack: 0,
    enforce: true,
  }));
  return { op: 'consume', charges };
}

/** Asks the same question again and again. */
function hot(store: SyncStore, ...rules: readonly Rule[]): () => unknown {
  const step = stepOf(rules, 'user:1');
  return () => store.runSync(step);
}

/** Asks for one key after the other. */
function many(count: number): (i: number) => unknown {
  const store = memoryStore({ max: count });
  const keys = Array.from({ length: count }, (_, i) => `user:${i}`);
  const { rule, cost, holdBack, enforce, ledger } = stepOf([RULES.bucket], '').charges[0] as AskStep['charges'][number];
  return (i) => {
    const values = [keys[i % count] as string];
    const charges = [{ ledger: { name: ledger.name, grid: ledger.grid, values }, rule, cost, holdBack, enforce }];
    return store.runSync({ op: 'consume', charges });
  };
}

const ample = tokenBucket({ capacity: AMPLE, refill: '10/1s' });
const CASES: Record<string, () => (i: number) => unknown> = {
  'the clock': () => Date.now,
  'evaluate, a bucket': () => {
    const step = stepOf([RULES.bucket], 'a');
    const state = [{ debt: 5_000_000, at: Date.now(), charged: 5_000, id: 7e15 }];
    return () => evaluate(step, state, Date.now(), () => 7e15);
  },
  'a bucket': () => hot(memoryStore(), RULES.bucket),
  'a bucket, denied': () => hot(memoryStore(), RULES.drained),
  'a window': () => hot(memoryStore(), RULES.window),
  'a log': () => hot(memoryStore(), RULES.log),
  'three buckets': () => hot(memoryStore(), RULES.bucket, RULES.bucket, RULES.bucket),
  'a bucket, a window and a log': () => hot(memoryStore(), RULES.bucket, RULES.window, RULES.log),
  'a bucket, 1,000 keys': () => many(1_000),
  'a bucket, 1,000,000 keys': () => many(1_000_000),
  'a limiter, one bucket': () => {
    const limiter = createLimiter({ name: 'api', store: memoryStore(), limits: { a: ample } });
    return () => limiter.consumeSync('user:1');
  },
  'a limiter, one bucket, denied': () => {
    const limits = { a: tokenBucket({ capacity: 1, refill: '1/1h' }) };
    const limiter = createLimiter({ name: 'api', store: memoryStore(), limits });
    return () => limiter.consumeSync('user:1');
  },
  'a limiter, three buckets': () => {
    const limiter = createLimiter({ name: 'api', store: memoryStore(), limits: { a: ample, b: ample, c: ample } });
    return () => limiter.consumeSync('user:1');
  },
};

function lap(f: (i: number) => unknown, times: number): number {
  const before = process.cpuUsage();
  for (let i = 0; i < times; i += 1) f(i);
  const { user, system } = process.cpuUsage(before);
  return (1_000 * (user + system)) / times;
}

const LAPS = 15;
const TIMES = 200_000;

function measure(name: string, f: (i: number) => unknown): void {
  for (let i = 0; i < 5; i += 1) lap(f, TIMES);
  const laps = Array.from({ length: LAPS }, () => ({ clock: lap(Date.now, TIMES), step: lap(f, TIMES) }));
  const least = (of: 'clock' | 'step'): number => Math.min(...laps.map((one) => one[of]));
  const median = laps.map(({ step }) => step).sort((a, b) => a - b)[(LAPS - 1) / 2] as number;
  const ratio = (least('step') / least('clock')).toFixed(1);
  console.log(
    `${name.padEnd(32)} ${least('step').toFixed(0)} ns (median ${median.toFixed(0)}), ${ratio} readings of the clock`,
  );
}

const chosen = process.argv[2];
for (const [name, make] of Object.entries(CASES)) if (chosen === undefined || chosen === name) measure(name, make());
