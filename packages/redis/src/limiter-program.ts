/** The Lua program as the dispatcher calls it: prefix, clock and fresh random numbers for identities filled in. */
import { LimiterError } from '@limiter/core';
import { decodeReply, encodeCall, script, scriptSha1 } from '@limiter/redis-lua';
import type { Program } from './program.js';

const MAX_NOW = 2 ** 52 - 1;
const POOL = 256;

/** Fresh random whole numbers below 2^48, drawn from the system in portions. */
function seeds(): () => number {
  const pool = new Uint32Array(2 * POOL);
  let at = pool.length;
  return () => {
    if (at === pool.length) {
      crypto.getRandomValues(pool);
      at = 0;
    }
    const high = (pool[at] as number) % 2 ** 16;
    const low = pool[at + 1] as number;
    at += 2;
    return high * 2 ** 32 + low;
  };
}

/** @param clock the caller's, or undefined for the server's own. */
export function limiterProgram(prefix: string, clock: (() => number) | undefined): Program {
  const seed = seeds();
  const now = (): number | undefined => {
    if (clock === undefined) return undefined;
    const ms = clock();
    if (Number.isInteger(ms) && ms >= 0 && ms <= MAX_NOW) return ms;
    throw new LimiterError(
      'ERR_LIMITER_CLOCK',
      `clock() must be a whole number of ms from 0 to 2^52-1, got ${String(ms)}`,
    );
  };
  return {
    script,
    sha1: scriptSha1,
    encode: (steps, deadline) => encodeCall(steps, { prefix, now: now(), seed: seed(), deadline }),
    decode: decodeReply,
  };
}
