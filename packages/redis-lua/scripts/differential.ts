/**
 * Random histories on a real redis-server against core's own algorithms, for as long as asked.
 *
 *   node --conditions=@limiter/source --import tsx packages/redis-lua/scripts/differential.ts --minutes 10 [--seed 1]
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { startRedis } from '@limiter/test-servers';
import { Redis } from 'ioredis';
import { playHistory } from '../test/support/history.js';
import { playLogHistory } from '../test/support/log-history.js';
import { type LuaStoreOptions, luaStore } from '../test/support/lua-store.js';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '1' }, seed: { type: 'string' } } });
const first = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
const until = Date.now() + Number(values.minutes) * 60_000;
const server = await startRedis();
const redis = new Redis(server.port, '127.0.0.1');
let seed = first;
let steps = 0;
let told = Date.now();
console.log(`from seed ${first}`);
try {
  for (; Date.now() < until; seed += 1) {
    const storeOf = (options: LuaStoreOptions) => luaStore(redis, options);
    steps += await playHistory({ storeOf, prefix: `h${seed}`, calls: 60, seed });
    if (seed % 5 === 0) steps += await playLogHistory({ storeOf, prefix: `l${seed}`, calls: 60, seed });
    if (seed % 50 === 0) await redis.flushall();
    if (Date.now() - told > 10_000) {
      told = Date.now();
      console.log(`${steps} steps, up to seed ${seed}`);
    }
  }
  console.log(`${steps} steps equal, seeds ${first} to ${seed - 1}`);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await redis.quit();
  await server.stop();
}
