/** What Redis itself takes: buckets written by hand, no rules, no waits, no receipts. */
import type { Redis } from 'ioredis';

const TAKE = `
local function take(now, capacity, refill, cost, v)
  local tokens, at = capacity, now
  if v then tokens, at = struct.unpack('<dd', v) end
  return math.min(capacity, tokens + (now - at) * refill) - cost
end
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local capacity, refill, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local got = redis.call('MGET', unpack(KEYS))
local left, answer = {}, {}`;

/** All keys or none. */
const TOGETHER = `${TAKE}
for i = 1, #KEYS do
  left[i] = take(now, capacity, refill, cost, got[i])
  if left[i] < 0 then return { 0, math.floor(left[i]) } end
end
for i = 1, #KEYS do redis.call('SET', KEYS[i], struct.pack('<dd', left[i], now), 'PX', 120000) end
return { 1, math.floor(left[1]) }`;

/** Each key for itself, and a key that comes again sees what the one before it left. */
const EACH = `${TAKE}
for i = 1, #KEYS do
  local key = KEYS[i]
  local had = left[key]
  local tokens = had and had - cost or take(now, capacity, refill, cost, got[i])
  if tokens >= 0 then left[key] = tokens end
  answer[i] = tokens >= 0 and 1 or 0
end
for key, tokens in pairs(left) do redis.call('SET', key, struct.pack('<dd', tokens, now), 'PX', 120000) end
return answer`;

export type Check = (...keys: string[]) => Promise<boolean>;

async function load(redis: Redis, source: string): Promise<string> {
  return (await redis.script('LOAD', source)) as string;
}

/** One call a decision. */
export async function single(redis: Redis, capacity: number): Promise<Check> {
  const sha = await load(redis, TOGETHER);
  return async (...keys) => {
    const [allowed] = (await redis.evalsha(sha, keys.length, ...keys, capacity, 0.01, 1)) as [number, number];
    return allowed === 1;
  };
}

/** The decisions of one tick in one call. */
export async function oneTick(redis: Redis, capacity: number): Promise<Check> {
  const sha = await load(redis, EACH);
  let waiting: { key: string; answer: (allowed: boolean) => void; fail: (error: unknown) => void }[] = [];
  async function send(): Promise<void> {
    const batch = waiting;
    waiting = [];
    try {
      const keys = batch.map(({ key }) => key);
      const answers = (await redis.evalsha(sha, keys.length, ...keys, capacity, 0.01, 1)) as number[];
      for (const [i, { answer }] of batch.entries()) answer(answers[i] === 1);
    } catch (error) {
      for (const { fail } of batch) fail(error);
    }
  }
  return (key) =>
    new Promise((answer, fail) => {
      if (waiting.length === 0) setImmediate(send);
      waiting.push({ key: key as string, answer, fail });
    });
}
