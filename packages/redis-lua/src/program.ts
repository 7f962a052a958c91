/** The Lua program as a store calls it: the text, the way in and out, with prefix, clock and fresh random numbers for identities filled in. */
import { LimiterError, type Outcome, type Step } from '@limiter/core';
import { decodeReply } from './decode.js';
import { type EncodedCall, encodeCall } from './encode.js';
import { script, scriptSha1 } from './script.generated.js';

/** What a store needs of the program. */
export interface Program {
  readonly script: string;
  readonly sha1: string;
  /**
   * One call for all steps. `deadline` is in the server's clock: a call that begins later does nothing and answers `LIMITERLATE <now>`.
   * May throw for a step that cannot be written down; then nothing has been sent.
   */
  encode(steps: readonly Step[], deadline: number | undefined): EncodedCall;
  /** One outcome a step, in order. */
  decode(reply: unknown, steps: readonly Step[]): readonly Outcome[];
}

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

/**
 * @param clock the caller's, or undefined for the server's own.
 * @param packedReply the client hands replies over as bytes; see EncodeOptions.
 */
export function limiterProgram(
  prefix: string,
  clock: (() => number) | undefined,
  packedReply: boolean = false,
): Program {
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
    encode: (steps, deadline) => encodeCall(steps, { prefix, now: now(), seed: seed(), deadline, packedReply }),
    decode: decodeReply,
  };
}
