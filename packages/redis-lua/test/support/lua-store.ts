/** The plainest store on the Lua program: encodes, sends, decodes. What a real store does about connections and deadlines is not its business. */
import { createHash, randomInt } from 'node:crypto';
import type { Outcome, Step, Store } from '@limiter/core';
import type { Redis } from 'ioredis';
import { decodeReply, encodeCall, faultOfError, script } from '../../src/index.js';

/** Whose clock decides: the caller's, the server's, or the server's with what TIME says handed in by the test. */
export type ClockMode = 'caller' | 'server' | 'told';

export interface LuaStoreOptions {
  readonly prefix?: string;
  readonly mode?: ClockMode;
  /** Read in the modes 'caller' and 'told'. */
  readonly clock?: () => number;
  readonly seed?: () => number;
  readonly deadline?: () => number;
  /** As bytes, which is the default here, or as a list. */
  readonly packedReply?: boolean;
  /** Another program than ours: what a test breaks on purpose. */
  readonly source?: string;
}

const loaded = new WeakMap<Redis, Map<string, string>>();

/** EVALSHA of a source that is loaded on first use. Bytes arrive as a Buffer, a list of numbers as it is. */
async function evaluate(
  redis: Redis,
  source: string,
  keys: readonly string[],
  args: readonly string[],
  packed: boolean,
): Promise<unknown> {
  const shas = loaded.get(redis) ?? new Map<string, string>();
  loaded.set(redis, shas);
  const sha = shas.get(source) ?? createHash('sha1').update(source).digest('hex');
  shas.set(source, sha);
  try {
    if (packed) return await redis.callBuffer('EVALSHA', [sha, `${keys.length}`, ...keys, ...args]);
    return await redis.evalsha(sha, keys.length, ...keys, ...args);
  } catch (error) {
    if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
    await redis.script('LOAD', source);
    return await evaluate(redis, source, keys, args, packed);
  }
}

/** What TIME answers stands in the last two arguments, so that the ways of the server's clock are taken at times that the test chooses. */
const toldTime = (source: string): string => source.replace("call('TIME')", '{ARGV[#ARGV - 1], ARGV[#ARGV]}');

export async function callLua(redis: Redis, steps: readonly Step[], options: LuaStoreOptions = {}): Promise<unknown> {
  const { prefix = 'limiter', mode = 'server', clock = Date.now, source = script, deadline } = options;
  const { packedReply = true } = options;
  const seed = (options.seed ?? (() => randomInt(2 ** 48 - 1)))();
  const now = clock();
  const { keys, args } = encodeCall(steps, {
    prefix,
    seed,
    now: mode === 'caller' ? now : undefined,
    deadline: deadline?.(),
    packedReply,
  });
  if (mode !== 'told') return await evaluate(redis, source, keys, args, packedReply);
  const time = [`${Math.floor(now / 1_000)}`, `${(now % 1_000) * 1_000 + 999}`];
  return await evaluate(redis, toldTime(source), keys, [...args, ...time], packedReply);
}

export function luaStore(redis: Redis, options: LuaStoreOptions = {}): Store {
  return {
    traits: {
      sync: false,
      atomic: 'always',
      clock: options.mode === 'caller' ? 'caller' : 'own',
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
