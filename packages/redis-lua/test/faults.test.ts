import type { Rule, Step } from '@limiter/core';
import { type RedisServer, startRedis } from '@limiter/test-servers';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { keyOf } from '../src/index.js';
import { luaStore } from './support/lua-store.js';
import { asked, bucket, charge, clockWindow, consume, giveBack, ledgerOf, log, peek } from './support/steps.js';

let server: RedisServer;
let redis: Redis;

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.port, '127.0.0.1');
});

afterEach(async () => {
  await redis.call('CONFIG', 'SET', 'maxmemory', '0');
  await redis.flushall();
});

afterAll(async () => {
  await redis.quit();
  await server.stop();
});

const rules: readonly (readonly [string, Rule])[] = [
  ['fixed window', clockWindow(5)],
  ['token bucket', bucket(5)],
  ['sliding log', log(5)],
];
const run = (...steps: readonly Step[]) => luaStore(redis).run(steps);

/** Everything that is stored, without times to live. */
async function stored(): Promise<unknown> {
  const keys = (await redis.keys('*')).sort();
  return await Promise.all(keys.map(async (key) => [key, (await redis.dumpBuffer(key)).toString('base64')]));
}

/** The first entry of a log, at the time 1. */
function entryOf(before: number, after: number): Buffer {
  const entry = Buffer.alloc(27);
  entry[0] = 0x10;
  entry.writeBigUInt64BE(BigInt(before) << 8n, 6);
  entry.writeBigUInt64BE(BigInt(after) << 8n, 13);
  entry[26] = 1;
  return entry;
}

const foreign: readonly (readonly [string, (key: string) => Promise<unknown>])[] = [
  ['a list', (key) => redis.rpush(key, 'a')],
  ['a hash', (key) => redis.hset(key, 'a', '1')],
  ['a stream', (key) => redis.xadd(key, '*', 'a', '1')],
  ['a set', (key) => redis.sadd(key, 'a')],
  ['empty text', (key) => redis.set(key, '')],
  ['text', (key) => redis.set(key, 'nobody wrote this')],
  ['text as long as a window', (key) => redis.set(key, 'x'.repeat(26))],
  ['text as long as a bucket', (key) => redis.set(key, 'x'.repeat(42))],
  ['a sorted set of others', (key) => redis.zadd(key, 1, 'a', 2, 'x'.repeat(28))],
  ['a sorted set of others, as long as an entry', (key) => redis.zadd(key, 1, 'x'.repeat(27))],
  ['an old entry with a sum that no log reaches', (key) => redis.zadd(key, 1, entryOf(0, 2 ** 53))],
  ['an old entry that follows such a sum', (key) => redis.zadd(key, 1, entryOf(2 ** 53, 0))],
];

describe.each(rules)('where the key of a %s should be', (_, rule) => {
  it.each(foreign)('%s fails that step only, and nothing of the step is written', async (__, plant) => {
    await plant(keyOf(ledgerOf(rule, 'bad'), 'limiter'));
    const before = await stored();
    const bad = charge(rule, 'bad');
    const others = rules.map(([, other]) => charge(other, 'good'));
    for (const step of [consume(bad), peek(bad), consume(...others, bad), consume(bad, ...others)]) {
      expect(await run(step)).toMatchObject([{ ok: false, fault: 'corrupt' }]);
      expect(await stored()).toEqual(before);
    }
    const outcomes = await run(
      consume(others[0]!),
      consume(bad, others[1]!),
      consume(others[0]!),
      peek(bad),
      peek(...others),
    );
    expect(outcomes.map(({ ok }) => ok)).toEqual([true, false, true, false, true]);
    expect(asked(outcomes[4]).verdicts.map(({ remaining }) => remaining)).toEqual([3, 5, 5]);
  });

  it('a reset forgets whatever is there, and the ledger is as new', async () => {
    await redis.rpush(keyOf(ledgerOf(rule, 'bad'), 'limiter'), 'a');
    const outcomes = await run({ op: 'reset', ledgers: [ledgerOf(rule, 'bad')] }, consume(charge(rule, 'bad')));
    expect(outcomes).toMatchObject([{ ok: true }, { ok: true, allowed: true, verdicts: [{ remaining: 4 }] }]);
  });

  it('a state of a later format fails the step, and is left as it is', async () => {
    await run(consume(charge(rule)));
    const key = keyOf(ledgerOf(rule), 'limiter');
    if (rule.algorithm === 'sliding-window-log') {
      const [member, score] = (await redis.zrangeBuffer(key, '0', '0', 'WITHSCORES')) as [Buffer, Buffer];
      member[0] = 2;
      await redis.del(key);
      await redis.zadd(key, score.toString(), member);
    } else {
      const value = (await redis.getBuffer(key)) as Buffer;
      value[0] = 2;
      await redis.set(key, value);
    }
    const before = await stored();
    expect(await run(consume(charge(rule)))).toMatchObject([{ ok: false, fault: 'corrupt' }]);
    const later = luaStore(redis, { mode: 'told', clock: () => Date.now() + 1e9 });
    expect(await later.run([consume(charge(rule))])).toMatchObject([{ ok: false, fault: 'corrupt' }]);
    expect(await stored()).toEqual(before);
  });

  it('a refund of a corrupt ledger gives nothing back, and leaves no marker', async () => {
    const one = charge(rule);
    const [verdict] = asked((await run(consume(one)))[0]).verdicts;
    const key = keyOf(ledgerOf(rule), 'limiter');
    await redis.del(key);
    await redis.set(key, 'nobody wrote this');
    const before = await stored();
    const once = { key: 'receipt', ttlMs: 60_000, beside: one.ledger };
    const step: Step = { op: 'adjust', adjustments: [giveBack(one, verdict!)], once };
    expect(await run(step)).toMatchObject([{ ok: false, fault: 'corrupt' }]);
    expect(await stored()).toEqual(before);
  });
});

it('an entry in the middle of a log that is not ours fails the steps that meet it, before anything is written', async () => {
  const rule = log(1_000);
  const many = await run(...Array.from({ length: 100 }, () => consume(charge(rule, 'd7', 10), charge(bucket(5_000)))));
  expect(many.every(({ ok }) => ok)).toBe(true);
  const key = keyOf(ledgerOf(rule), 'limiter');
  const [first] = (await redis.zrangeBuffer(key, '0', '0', 'WITHSCORES')).slice(-1);
  const members = await redis.zrangeBuffer(key, '40', '60');
  await redis.zrem(key, ...members);
  await redis.zadd(key, ...members.flatMap((_, i) => [String(first), `\u0001\u0080foreign${i}`]));
  const before = await stored();
  const outcomes = await run(consume(charge(bucket(5_000)), charge(rule, 'd7', 505)));
  expect(outcomes).toMatchObject([{ ok: false, fault: 'corrupt' }]);
  expect(await stored()).toEqual(before);
});

describe('an error that the server raises', () => {
  it('at the first write, out of memory, refuses every step of the call and writes nothing', async () => {
    await redis.set('ballast', 'x'.repeat(3_000_000));
    await redis.call('CONFIG', 'SET', 'maxmemory', '1mb');
    for (const [, rule] of rules) {
      const steps = [
        consume(charge(rule)),
        consume(charge(rule, 'd8')),
        consume(charge(rule), charge(bucket(5), 'd9')),
      ];
      expect(await run(steps[0]!)).toMatchObject([{ ok: false, fault: 'refused' }]);
      expect(await run(...steps)).toMatchObject(steps.map(() => ({ ok: false, fault: 'refused' })));
    }
    expect(await redis.keys('limiter:*')).toEqual([]);
  });

  it('after the first write is an unknown outcome, and the log that was begun has a time to live', async () => {
    await redis.call('ACL', 'SETUSER', 'half', 'on', '>half', '~*', '+@all', '-set');
    const half = new Redis(server.port, '127.0.0.1', { username: 'half', password: 'half' });
    const outcomes = await luaStore(half).run([consume(charge(log(5))), consume(charge(bucket(5)))]);
    await half.quit();
    expect(outcomes).toMatchObject([
      { ok: false, fault: 'unknown-outcome' },
      { ok: false, fault: 'unknown-outcome' },
    ]);
    const key = keyOf(ledgerOf(log(5)), 'limiter');
    expect(await redis.zcard(key)).toBe(1);
    expect(await redis.pttl(key)).toBeGreaterThan(0);
  });

  it.each([
    ['alone', 1],
    ['among others', 2],
  ])(
    'between the first entry of a log, %s, and its time to live is an unknown outcome, for the entry is there',
    async (_, steps) => {
      await redis.call('ACL', 'SETUSER', 'endless', 'on', '>endless', '~*', '+@all', '-pexpire');
      const endless = new Redis(server.port, '127.0.0.1', { username: 'endless', password: 'endless' });
      const begin = Array.from({ length: steps }, (_, i) => consume(charge(log(5), `d${i}`)));
      const unknown = begin.map(() => ({ ok: false, fault: 'unknown-outcome' }));
      expect(await luaStore(endless).run(begin)).toMatchObject(unknown);
      const key = keyOf(ledgerOf(log(5), 'd0'), 'limiter');
      const [first] = await redis.zrangeBuffer(key, '0', '-1');
      // As when nothing of it counts any more.
      const later = luaStore(endless, { mode: 'told', clock: () => Date.now() + 1e9 });
      expect(await later.run(begin)).toMatchObject(unknown);
      const [second, ...others] = await redis.zrangeBuffer(key, '0', '-1');
      await endless.quit();
      expect(first).toHaveLength(27);
      expect(second).not.toEqual(first);
      expect(others).toEqual([]);
    },
  );
});

it('a call that begins after its deadline reads and writes nothing, whatever it holds', async () => {
  const late = luaStore(redis, { deadline: () => Date.now() - 10 });
  for (const [, rule] of rules) {
    const outcomes = await late.run([consume(charge(rule)), peek(charge(rule, 'd8'))]);
    expect(outcomes).toMatchObject([
      { ok: false, fault: 'refused' },
      { ok: false, fault: 'refused' },
    ]);
    expect(await late.run([consume(charge(rule))])).toMatchObject([{ ok: false, fault: 'refused' }]);
  }
  expect(await redis.dbsize()).toBe(0);
  const early = luaStore(redis, { deadline: () => Date.now() + 10_000 });
  expect(await early.run([consume(charge(bucket(5)))])).toMatchObject([{ ok: true, allowed: true }]);
});
