/**
 * What a decision costs the Redis server: microseconds of EVALSHA a step as `INFO commandstats` counts them, in short interleaved
 * rounds, beside a hand-written bucket and the script of rate-limiter-flexible.
 */
import type { Rule, Step } from '@limiter/core';
import { startRedis } from '@limiter/test-servers';
import { Redis } from 'ioredis';
import { emit } from '../harness/emit.js';
import type { Entry, Role } from '../harness/result.js';
import { part, quick, roundsOr } from '../harness/settings.js';
import { EMPTY, FLOOR, FLOOR_PACKED, FLOOR_THREE, flexible, plain } from './redis-cost-rivals.js';
import { silences } from './redis-cost-silence.js';
import {
  bucket,
  type Cost,
  charge,
  consume,
  KEYS,
  ledger,
  log,
  many,
  peek,
  programOn,
  window,
} from './redis-cost-steps.js';

const server = await startRedis();
const redis = new Redis(server.port, '127.0.0.1');
const program = await programOn(redis);
const { ask, ours, fill, takenOf } = program;

async function usOf({ run, steps, calls }: Cost): Promise<number> {
  await redis.config('RESETSTAT');
  await run(quick ? Math.min(calls, 20) : calls);
  const found = /cmdstat_evalsha:calls=(\d+),usec=(\d+)/.exec(await redis.info('commandstats'));
  return Number(found?.[2]) / Number(found?.[1]) / steps;
}

const roleOf = (name: string): Role =>
  name.startsWith('by hand')
    ? 'floor'
    : name.startsWith('rate-limiter')
      ? 'peer'
      : name === 'an empty script'
        ? 'info'
        : 'ours';

async function table(id: string, title: string, cases: readonly Cost[], note?: string): Promise<void> {
  const samples = cases.map((): number[] => []);
  for (const one of cases) await one.run(quick ? 1 : Math.min(one.calls, 200));
  for (let round = 0; round < roundsOr(25); round += 1) {
    for (const [i, one] of cases.entries()) samples[i]?.push(await usOf(one));
  }
  const entries = cases.map(({ name }, i): Entry => ({ name, role: roleOf(name), samples: samples[i] as number[] }));
  emit({
    id: `redis cost ${id}`,
    title: `Redis server: ${title}`,
    unit: 'us a step',
    better: 'less',
    entries,
    ...(note === undefined ? {} : { note }),
  });
}

const three = (value: string): Step =>
  consume(
    charge(bucket(), 'up/a', value),
    charge({ ...bucket(), refillMs: 2_000 } as Rule, 'up/b', value),
    charge({ ...bucket(), refillMs: 3_000 } as Rule, 'up/c', value),
  );
const threeKeys = (i: number): string[] => ['a', 'b', 'c'].map((name) => `floor:{${i % KEYS}}${name}`);

async function alone(): Promise<void> {
  await table('alone', 'one decision a call', [
    flexible(redis),
    await plain(redis, 'an empty script', EMPTY, []),
    await plain(redis, 'by hand, a bucket, a hash', FLOOR, [1e9, 0.01, 1]),
    await plain(redis, 'by hand, a bucket, packed', FLOOR_PACKED, [1e9, 0.01, 1, 120_000]),
    await plain(redis, 'by hand, three keys', FLOOR_THREE, [1, 1e9, 0.01, 1e9, 0.02, 1e9, 0.03, 120_000], threeKeys),
    ours('one fixed window', 1_000, (i) => [consume(charge(window, 'up/window', `d${i % KEYS}`))]),
    ours('one token bucket', 1_000, (i) => [consume(charge(bucket(), 'up/bucket', `d${i % KEYS}`))]),
    ours('one token bucket, denied', 1_000, (i) => [consume(charge(bucket(1), 'up/denied', `d${i % 5}`))]),
    ours('three token buckets', 1_000, (i) => [three(`d${i % KEYS}`)]),
    ours('one sliding log of ten', 1_000, (i) => [consume(charge(log(1e9, 20), 'up/log', `d${i % 50}`))]),
  ]);
}

async function batched(): Promise<void> {
  await table('many', 'many decisions in a call', [
    flexible(redis),
    ours(
      '16 of one window',
      200,
      many(16, (i) => consume(charge(window, 'up/window', `d${i % KEYS}`))),
    ),
    ours(
      '256 of one window',
      20,
      many(256, (i) => consume(charge(window, 'up/window', `d${i % KEYS}`))),
    ),
    ours(
      '16 of one bucket',
      200,
      many(16, (i) => consume(charge(bucket(), 'up/bucket', `d${i % KEYS}`))),
    ),
    ours(
      '256 of one bucket',
      20,
      many(256, (i) => consume(charge(bucket(), 'up/bucket', `d${i % KEYS}`))),
    ),
    ours(
      '256 of three buckets',
      20,
      many(256, (i) => three(`d${i % KEYS}`)),
    ),
    ours(
      '256 of one bucket, one hot key',
      20,
      many(256, () => consume(charge(bucket(), 'up/bucket', 'hot'))),
    ),
    ours(
      '256 of one log',
      20,
      many(256, (i) => consume(charge(log(1e9, 20), 'up/logs', `d${i % KEYS}`))),
    ),
  ]);
}

async function logs(): Promise<void> {
  const cases: Cost[] = [];
  for (const count of quick ? [10, 1_000] : [10, 1_000, 100_000]) {
    const name = `log${count}/x`;
    await fill(name, count, 2 ** 50);
    const taken = await takenOf(name);
    const full = log(taken);
    const step = (cost: number, rule = full): Step => consume(charge(rule, name, 'x', cost));
    cases.push(
      ours(`${count}: denied, cost 1`, 200, () => [step(1)]),
      ours(`${count}: denied, cost = limit`, 200, () => [step(taken)]),
      ours(`${count}: denied, any cost`, 200, () => [step(1 + Math.floor(Math.random() * taken))]),
      ours(`${count}: peek`, 200, () => [peek(charge(full, name, 'x', 1))]),
      ours(
        `${count}: peek, all expired`,
        200,
        () => [peek(charge(full, name, 'x', 1))],
        () => Date.now() + 1_000_000,
      ),
      ours(
        `${count}: peek, half expired`,
        200,
        () => [peek(charge(full, name, 'x', 1))],
        () => Date.now() + 300_000,
      ),
      ours(`${count}: admit`, 100, () => [step(1, log(2 ** 50))]),
    );
  }
  await table('logs', 'a sliding log by its live entries', cases);
}

async function refunds(): Promise<void> {
  const cases: Cost[] = [];
  for (const live of [0, 1_000]) {
    const name = `refund${live}/x`;
    const rule = log(2 ** 50);
    const charges = many(4_000, () => consume(charge(rule, name, 'x', 3)))(0);
    const marks: Step[] = [];
    for (let i = 0; i < charges.length; i += 250) {
      const part = charges.slice(i, i + 250);
      for (const outcome of await ask(part)) {
        if (!outcome.ok || outcome.op !== 'consume') throw new Error('not charged');
        marks.push({
          op: 'adjust',
          adjustments: [
            {
              ledger: ledger(rule, name, 'x'),
              rule,
              mark: outcome.verdicts[0]?.mark,
              charged: 3,
              change: 'give-back',
              amount: 1,
            },
          ],
        });
      }
    }
    const old = marks.slice(0, 2_000).sort(() => Math.random() - 0.5);
    for (const step of old.splice(0, live)) await ask([step]);
    const taken = await takenOf(name);
    cases.push(
      ours(`${live} live refunds: denied, cost 1`, 100, () => [consume(charge(log(taken), name, 'x', 1))]),
      ours(`${live} live refunds: denied, any cost`, 100, () => [
        consume(charge(log(taken), name, 'x', 1 + Math.floor(Math.random() * taken))),
      ]),
      ours(`${live} live refunds: peek`, 100, () => [peek(charge(log(taken), name, 'x', 1))]),
      ours(`${live} live refunds: admit`, 50, () => [consume(charge(rule, name, 'x', 1))]),
      ours(`${live} live refunds: one more, anywhere`, 20, (i) => [old[i % old.length] as Step]),
    );
  }
  await table('refunds', 'a sliding log with refunds', cases);
  await table(
    'silence',
    'a sliding log: an admit, its refund, the first charge after silence',
    await silences(redis, program),
    'Of a new log, and after silence, only the first consume of each of 50 logs is counted.',
  );
}

const PARTS: Readonly<Record<string, () => Promise<void>>> = { alone, many: batched, logs, refunds };
try {
  await PARTS[part]?.();
} finally {
  await server.stop();
}
process.exit();
