/** The plainest store on the Lua program: encodes, sends, decodes. What a real store does about connections and deadlines is not its business. */
import { randomInt } from 'node:crypto';
import type { Outcome, Step, Store } from '@limiter/core';
import type { Redis } from 'ioredis';
import { decodeReply, encodeCall, faultOfError, script, scriptSha1 } from '../../src/index.js';

export interface LuaStoreOptions {
  readonly prefix?: string;
  /** Left out, Redis TIME decides. */
  readonly clock?: () => number;
  readonly seed?: () => number;
}

export async function callLua(redis: Redis, steps: readonly Step[], options: LuaStoreOptions = {}): Promise<unknown> {
  const { prefix = 'limiter', clock, seed = () => randomInt(2 ** 48 - 1) } = options;
  const { keys, args } = encodeCall(steps, { prefix, now: clock?.(), seed: seed() });
  try {
    return await redis.evalsha(scriptSha1, keys.length, ...keys, ...args);
  } catch (error) {
    if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
    return await redis.eval(script, keys.length, ...keys, ...args);
  }
}

export function luaStore(redis: Redis, options: LuaStoreOptions = {}): Store {
  return {
    traits: {
      sync: false,
      atomic: 'always',
      clock: options.clock === undefined ? 'own' : 'caller',
      durable: 'eventually',
      fails: 'possible',
      algorithms: ['fixed-window', 'sliding-window-log', 'token-bucket'],
    },
    async run(steps: readonly Step[], signal?: AbortSignal): Promise<readonly Outcome[]> {
      if (signal?.aborted) return steps.map(() => ({ ok: false, fault: 'unreachable', cause: signal.reason }));
      try {
        return decodeReply(await callLua(redis, steps, options), steps);
      } catch (cause) {
        return steps.map(() => ({ ok: false, fault: faultOfError((cause as Error).message), cause }));
      }
    },
  };
}
