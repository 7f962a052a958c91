/** What a decision costs the server when others ask: by hand, and the script of rate-limiter-flexible. */
import type { Redis } from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { type Cost, KEYS } from './redis-cost-steps.js';

// What a peer does in the same place.
export const EMPTY = 'return 1';
export const FLOOR = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local capacity, refill, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local state = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens, at = tonumber(state[1]) or capacity, tonumber(state[2]) or now
tokens = math.min(capacity, tokens + (now - at) * refill)
local allowed = 0
if tokens >= cost then
  tokens = tokens - cost
  allowed = 1
  redis.call('HSET', KEYS[1], 'tokens', tokens, 'at', now)
  redis.call('PEXPIRE', KEYS[1], 120000)
end
return { allowed, math.floor(tokens) }`;
export const FLOOR_PACKED = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local capacity, refill, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local v = redis.call('GET', KEYS[1])
local tokens, at = capacity, now
if v then tokens, at = struct.unpack('<dd', v) end
tokens = math.min(capacity, tokens + (now - at) * refill)
if tokens < cost then return { 0, math.floor(tokens) } end
tokens = tokens - cost
redis.call('SET', KEYS[1], struct.pack('<dd', tokens, now), 'PX', ARGV[4])
return { 1, math.floor(tokens) }`;
export const FLOOR_THREE = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local cost, left, ok = tonumber(ARGV[1]), {}, 1
local got = redis.call('MGET', KEYS[1], KEYS[2], KEYS[3])
for i = 1, 3 do
  local capacity, refill = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  local tokens, at = capacity, now
  if got[i] then tokens, at = struct.unpack('<dd', got[i]) end
  left[i] = math.min(capacity, tokens + (now - at) * refill)
  if left[i] < cost then ok = 0 end
end
if ok == 1 then
  for i = 1, 3 do
    left[i] = left[i] - cost
    redis.call('SET', KEYS[i], struct.pack('<dd', left[i], now), 'PX', ARGV[8])
  end
end
return { ok, math.floor(left[1]), math.floor(left[2]), math.floor(left[3]) }`;

export async function plain(
  redis: Redis,
  name: string,
  source: string,
  args: readonly (string | number)[],
  keysOf = (i: number): string[] => [`${name}:${i % KEYS}`],
): Promise<Cost> {
  const sha = (await redis.script('LOAD', source)) as string;
  let i = 0;
  return {
    name,
    steps: 1,
    calls: 1_000,
    async run(count) {
      for (let sent = 0; sent < count; sent += 100) {
        const pipeline = redis.pipeline();
        for (let j = 0; j < 100; j += 1) {
          const keys = keysOf(i++);
          pipeline.evalsha(sha, keys.length, ...keys, ...args);
        }
        for (const [error] of (await pipeline.exec()) ?? []) if (error) throw error;
      }
    },
  };
}

export function flexible(redis: Redis): Cost {
  const limiter = new RateLimiterRedis({ storeClient: redis, points: 1e9, duration: 60, keyPrefix: 'rlf' });
  let i = 0;
  return {
    name: 'rate-limiter-flexible',
    steps: 1,
    calls: 1_000,
    async run(count) {
      for (let sent = 0; sent < count; sent += 100) {
        await Promise.all(Array.from({ length: 100 }, () => limiter.consume(`d${i++ % KEYS}`)));
      }
    },
  };
}
