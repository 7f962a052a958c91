/** Decisions on a redis-server of its own: 256 in flight over 1,000 keys or on one, three limits, one at a time, denied. */
import { createLimiter, tokenBucket, withDenialMemory } from '@limiter/core';
import { redisStore } from '@limiter/redis';
import { startRedis, startUpstash } from '@limiter/test-servers';
import { Redis } from 'ioredis';
import { emit } from '../harness/emit.js';
import { type Contender, inFlight, race } from '../harness/race.js';
import type { Role } from '../harness/result.js';
import { part } from '../harness/settings.js';
import { type Check, oneTick, single } from './redis-floor.js';
import { type Ask, asyncRatelimiter, expressRedis, flexible, upstash } from './redis-peers.js';

const AMPLE = 1_000_000_000;
const FLIGHT = part === 'latency' ? 1 : 256;
const denied = part === 'denied';
const three = part === 'three';
const hot = part === 'hot' || denied;
const budget = denied ? 1 : AMPLE;
const KEYS: readonly string[] = Array.from({ length: hot ? 1 : 1_000 }, (_, i) => `user:${i}`);

const server = await startRedis();
const plain = new Redis(server.port, '127.0.0.1');
const piped = new Redis(server.port, '127.0.0.1', { enableAutoPipelining: true });
const rest = await startUpstash(server);

async function contender(name: string, role: Role, ask: Ask): Promise<Contender> {
  await ask(KEYS[0] as string);
  const act = async (i: number): Promise<void> => {
    if ((await ask(KEYS[i % KEYS.length] as string)) === denied) throw new Error(`${name}: answered the other way`);
  };
  return { name, role, run: inFlight(FLIGHT, act), step: FLIGHT };
}

function ours(): Ask {
  const limit = tokenBucket({ capacity: budget, refill: denied ? '1/1h' : '10/1s' });
  const limits: Record<string, typeof limit> = three
    ? {
        a: limit,
        b: tokenBucket({ capacity: budget, refill: '10/2s' }),
        c: tokenBucket({ capacity: budget, refill: '10/3s' }),
      }
    : { a: limit };
  const store = redisStore(plain);
  const kept = denied ? withDenialMemory(store, { staleMs: 60_000 }) : store;
  const limiter = createLimiter({ name: 'api', store: kept, limits, onStoreFailure: 'throw', storeTimeout: '10s' });
  return async (key) => (await limiter.consume(key)).allowed;
}

const asked =
  (check: Check): Ask =>
  (key) =>
    check(key);

async function contenders(): Promise<Contender[]> {
  const mine = await contender(denied ? 'ours, denial memory' : 'ours', 'ours', ours());
  if (denied) {
    const known = new Set([KEYS[0]]);
    return [
      mine,
      await contender('rate-limiter-flexible, inMemoryBlock', 'peer', flexible(plain, 1, 1, true)),
      await contender('@upstash/ratelimit, ephemeral cache', 'peer', upstash(rest, 1)),
      await contender('a Set by hand', 'floor', async (key) => !known.has(key)),
    ];
  }
  if (three) {
    const floor = await single(piped, AMPLE);
    return [
      mine,
      await contender('rate-limiter-flexible, union of 3', 'peer', flexible(plain, AMPLE, 3)),
      await contender('rate-limiter-flexible, union of 3, auto-pipelining', 'peer', flexible(piped, AMPLE, 3)),
      await contender('by hand, three keys, auto-pipelining', 'floor', (key) =>
        floor(`f{${key}}a`, `f{${key}}b`, `f{${key}}c`),
      ),
    ];
  }
  const all = [
    mine,
    await contender('rate-limiter-flexible', 'peer', flexible(plain, AMPLE)),
    await contender('rate-limit-redis', 'peer', expressRedis(plain, AMPLE)),
    await contender('async-ratelimiter', 'peer', asyncRatelimiter(plain, AMPLE)),
    await contender('by hand, a call each', 'floor', asked(await single(plain, AMPLE))),
  ];
  if (FLIGHT === 1) return all;
  return [
    ...all,
    await contender('rate-limiter-flexible, auto-pipelining', 'peer', flexible(piped, AMPLE)),
    await contender('rate-limit-redis, auto-pipelining', 'peer', expressRedis(piped, AMPLE)),
    await contender('by hand, one tick in one call', 'floor', asked(await oneTick(plain, AMPLE))),
  ];
}

const TITLES: Readonly<Record<string, string>> = {
  one: 'one limit, 256 in flight over 1,000 keys',
  three: 'three limits in one decision, 256 in flight over 1,000 keys',
  latency: 'one limit, one at a time',
  hot: 'one limit, one hot key, 256 in flight',
  denied: 'one denied key, 256 in flight',
};

try {
  emit(
    await race({ id: `redis ${part}`, title: `Redis: ${TITLES[part]}` }, await contenders(), {
      roundMs: denied ? 15 : 60,
      // One call at a time is a few thousand a second: every contender gets the calls that it takes to be compiled.
      warmUpMs: FLIGHT === 1 ? 3_000 : 300,
    }),
  );
} finally {
  await rest.stop();
  await server.stop();
}
process.exit();
