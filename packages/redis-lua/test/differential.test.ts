/** Random histories: the Lua program and core's own algorithms give the same numbers. scripts/differential.ts plays them for as long as asked. */
import { type RedisServer, startRedis } from '@limiter/test-servers';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { script } from '../src/index.js';
import { type HistoryOptions, playHistory } from './support/history.js';
import { playLogHistory } from './support/log-history.js';
import { type LuaStoreOptions, luaStore } from './support/lua-store.js';

let server: RedisServer;
let redis: Redis;

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.port, '127.0.0.1');
});

afterAll(async () => {
  await redis.quit();
  await server.stop();
});

/** Where the program answers, and how often the histories must come there. */
const WAYS: readonly (readonly [name: string, statement: string])[] = [
  ['one bucket, allowed', "return pack('<dddd', now, debt * 16 + 11, sum, c)"],
  ['one bucket, denied', "return pack('<dd', now, debt * 16 + 2)"],
  ['one window, allowed', "return pack('<dddd', now, b * 16 + 11, 0, c)"],
  ['one window, denied', "return pack('<dd', now, b * 16 + 2)"],
  ['two, allowed', "return pack('<ddddddd', now, level1 * 16 + 11, d1, c1, level2 * 16 + 11, d2, c2)"],
  ['three, allowed', "return pack('<dddddddddd', now, level1 * 16 + 11"],
  ['two, denied', "return pack('<ddd', now, level1, level2)"],
  ['three, denied', "return pack('<dddd', now, level1, level2, level3"],
  ['one log, allowed', "return pack('<dddddddd', now, 9, used + cost"],
  ['one log, denied', "return pack('<dddddd', now, 0, used"],
  ['one log, a new one, allowed', "return pack('<dddddddd', now, 9, cost, 0"],
  ['one log, a new one for one of which nothing counts', "call('UNLINK', key) end\nsequence = "],
  ['one log, a new one, denied', "return pack('<dddddd', now, 0, 0"],
  ['one log, not the commonest', 'groups = { 0, { 3, 3'],
  ['two or three, not the commonest', 'groups = { 0, step, #keys }'],
  ['windows and buckets', "if kind == 'p' or kind == 't' then"],
  ['all else', 'local done, problem = pcall(run)'],
  ['a list', 'if not packed then return reply end'],
  ['bytes', "local text = ''"],
];

/** The program, noting how often each of its ways is taken. */
function counting(): string {
  let source = script;
  for (const [name, statement] of WAYS) {
    expect(script, name).toContain(statement);
    const note = `redis.call('HINCRBY', 'ways', '${name}', 1)`;
    if (statement.startsWith('if kind')) source = source.replaceAll(statement, `${statement} ${note}`);
    else if (statement.startsWith('if not packed')) {
      source = source.replaceAll(statement, `if not packed then ${note} return reply end`);
    } else source = source.replaceAll(statement, `${note} ${statement}`);
  }
  return source;
}

type Play = (options: HistoryOptions) => Promise<number>;

/** Plays histories of random seeds, or of those that come of `first`, until `steps` were compared; a failure names its seed. */
async function playUntil(steps: number, play: Play, change: LuaStoreOptions = {}, first?: number): Promise<number> {
  let compared = 0;
  let histories = 0;
  const storeOf = (options: LuaStoreOptions) => luaStore(redis, { ...options, ...change });
  const property = fc.asyncProperty(fc.integer({ min: 0, max: 2 ** 31 - 1 }), async (seed) => {
    if (compared >= steps) return;
    histories += 1;
    compared += await play({ storeOf, prefix: `${play.name}${histories}`, calls: 60, seed });
  });
  await redis.flushall();
  const seeded = first === undefined ? {} : { seed: first };
  await fc.assert(property, { ...seeded, numRuns: 10_000, endOnFailure: true, includeErrorInReport: true });
  return compared;
}

it('twenty-four thousand random steps on one to five limits answer as core does, every number', {
  timeout: 60_000,
}, async () => {
  expect(await playUntil(24_000, playHistory)).toBeGreaterThanOrEqual(24_000);
});

it('twelve thousand random steps on logs of thousands of entries answer as core does', {
  timeout: 60_000,
}, async () => {
  expect(await playUntil(12_000, playLogHistory)).toBeGreaterThanOrEqual(12_000);
});

it('the random steps take each way through the program thirty times and more', { timeout: 60_000 }, async () => {
  const source = counting();
  const storeOf = (options: LuaStoreOptions) => luaStore(redis, { ...options, source });
  await redis.flushall();
  for (let seed = 0; seed < 300; seed += 1) {
    await playHistory({ storeOf, prefix: `way${seed}`, calls: 60, seed });
    if (seed % 5 === 0) await playLogHistory({ storeOf, prefix: `log${seed}`, calls: 60, seed });
  }
  const taken = await redis.hgetall('ways');
  for (const [name] of WAYS) expect(Number(taken[name] ?? 0), name).toBeGreaterThanOrEqual(30);
});

// The comparison itself is tried: a program with one wrong character must not get through. The seeds are the same each time, and far more than
// it takes, for some are met by one history in a hundred only.
it.each([
  ['a bucket that admits one unit of debt less', 'level <= most', 'level < most'],
  ['a lone bucket that denies one unit of debt too early', 'debt > most', 'debt >= most'],
  ['a lone window that denies one too early', 'b > most', 'b >= most'],
  ['two limits of which the second denies one too early', 'level2 <= most2 and (', 'level2 < most2 and ('],
  ['three limits of which the third is charged twice', 'b3 = level3 + second3', 'b3 = level3 + second3 * 2'],
  ['a window among others that is charged twice', 'level1 + 1, 0', 'level1 + 2, 0'],
  ['a window that ends one ms late', 'now - a < rate', 'now - a <= rate'],
  ['a log that keeps an entry one ms too long', 'at - windowMs + 1, 0', 'at - windowMs, 0'],
  ['a lone log that denies one too early', 'cost > budget - used', 'cost >= budget - used'],
  [
    'a lone log that forgets who waits for the first entry only',
    'cost - (budget - used) > firstAfter - base',
    'cost - (budget - used) > firstAfter',
  ],
  ['a lone log whose expired entries count', "'+inf', 'LIMIT', '0', '1'", "'+inf', 'LIMIT', '1', '1'"],
  ['a lone log that begins anew one ms too early', 'not newest or time < from', 'not newest or time <= from'],
  ['a new lone log that refuses the whole limit', 'if cost > budget then', 'if cost >= budget then'],
  ['a new lone log that is charged one too much', 'sequence, 0, cost, now', 'sequence, 0, cost + 1, now'],
  ['a new lone log with the identity of the one before', '(args[2] + 1) % 8796093022208', '0'],
  ['a step back that is waited for 1 ms too long', 'a - now <= 2000', 'a - now <= 2001'],
  [
    'a refund that forgets what was given back before',
    'or 0)\nend\nend\nfunction refundLog',
    'and 0 or 0)\nend\nend\nfunction refundLog',
  ],
])('notices %s', { timeout: 60_000 }, async (_, right, wrong) => {
  expect(script).toContain(right);
  const source = script.replaceAll(right, wrong);
  const play = /refundLog|budget|firstAfter|LIMIT|newest|sequence|args/.test(right) ? playLogHistory : playHistory;
  await expect(playUntil(200_000, play, { source }, 1)).rejects.toThrow(/seed \d+, call \d+, step/);
});
