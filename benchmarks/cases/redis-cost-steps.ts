/** Steps for our Lua program as the limiter would send them, and cases that time them. */
import { type Charge, type Ledger, type Rule, ruleGrid, type Step } from '@limiter/core';
import { decodeReply, encodeCall, script, scriptSha1 } from '@limiter/redis-lua';
import type { Redis } from 'ioredis';

export interface Cost {
  readonly name: string;
  /** Sends about `calls` calls. */
  run(calls: number): Promise<void>;
  /** Steps that one call carries. */
  readonly steps: number;
  readonly calls: number;
}

const seed = (): number => Math.floor(Math.random() * 2 ** 48);
export const bucket = (capacity = 1e9): Rule => ({
  algorithm: 'token-bucket',
  capacity,
  refillTokens: 10,
  refillMs: 1_000,
});
export const window: Rule = { algorithm: 'fixed-window', limit: 1e9, windowMs: 60_000, align: 'clock', offsetMs: 0 };
export const log = (limit: number, windowMs = 600_000): Rule => ({ algorithm: 'sliding-window-log', limit, windowMs });

export const ledger = (rule: Rule, name: string, value: string): Ledger => ({
  name,
  grid: ruleGrid(rule),
  values: [value],
});
export const charge = (rule: Rule, name: string, value: string, cost = 1): Charge => ({
  ledger: ledger(rule, name, value),
  rule,
  cost,
  holdBack: 0,
  enforce: true,
});

export const consume = (...charges: Charge[]): Step => ({ op: 'consume', charges });
export const peek = (...charges: Charge[]): Step => ({ op: 'peek', charges });
export const many =
  (count: number, stepOf: (i: number) => Step) =>
  (call: number): readonly Step[] =>
    Array.from({ length: count }, (_, i) => stepOf(call * count + i));

export const KEYS = 1_000;

export type Program = Awaited<ReturnType<typeof programOn>>;

/** Our program, loaded. */
export async function programOn(redis: Redis) {
  await redis.script('LOAD', script);
  const call = (steps: readonly Step[], now: number | undefined) =>
    encodeCall(steps, { prefix: 'limiter', seed: seed(), now, packedReply: true });

  async function ask(steps: readonly Step[], now?: number) {
    const { keys, args } = call(steps, now);
    return decodeReply(await redis.callBuffer('EVALSHA', [scriptSha1, `${keys.length}`, ...keys, ...args]), steps);
  }

  /** `stepsOf` makes the steps of call number `i`. */
  function ours(name: string, calls: number, stepsOf: (i: number) => readonly Step[], now?: () => number): Cost {
    let i = 0;
    return {
      name,
      calls,
      steps: stepsOf(0).length,
      async run(count) {
        for (let sent = 0; sent < count; ) {
          const pipeline = redis.pipeline();
          for (let j = 0; j < 100 && sent < count; j += 1, sent += 1) {
            const { keys, args } = call(stepsOf(i++), now?.());
            pipeline.evalsha(scriptSha1, keys.length, ...keys, ...args);
          }
          for (const [error] of (await pipeline.exec()) ?? []) if (error) throw error;
        }
      },
    };
  }

  /** A log of `count` entries of cost 1 to 9, charged within 400 s; the first one is `agoMs` old. */
  async function fill(name: string, count: number, limit: number, agoMs = 500_000): Promise<void> {
    const rule = log(limit);
    const start = Date.now() - agoMs;
    for (let i = 0; i < count; i += 500) {
      const now = start + Math.floor((i / count) * 400_000);
      await ask(many(Math.min(500, count - i), (j) => consume(charge(rule, name, 'x', 1 + ((i + j) % 9))))(0), now);
    }
  }

  /** What is charged to a log. */
  async function takenOf(name: string): Promise<number> {
    const [outcome] = await ask([peek(charge(log(2 ** 50), name, 'x', 0))]);
    if (!outcome?.ok || outcome.op !== 'peek') throw new Error('no answer to a peek');
    return 2 ** 50 - (outcome.verdicts[0]?.remaining ?? 0);
  }

  return { ask, ours, fill, takenOf };
}
