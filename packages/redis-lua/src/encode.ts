/**
 * Steps as one call of the Lua program. Keys and arguments are text that survives UTF-8 and JSON, so any transport will do. Of the
 * ways through the program (lua/0-alone.lua, 1-few.lua, 1-lone-log.lua, 2-plain.lua, 3-call.lua) a call takes the shortest that can answer it.
 */
import type { Step } from '@limiter/core';
import { aloneArgs, loneCharge } from './encode/alone.js';
import { encodeCallJson } from './encode/call.js';
import { encodeFew } from './encode/few.js';
import { encodePlain, isPlain } from './encode/plain.js';
import { keyOf } from './keys.js';

export interface EncodeOptions {
  /** First part of every key. */
  readonly prefix: string;
  /** The caller's clock, whole ms since the Unix epoch, 0 .. 2^52-1. Left out, Redis TIME decides. */
  readonly now?: number | undefined;
  /** A fresh random whole number, 0 .. 2^48-1, for every call: new ledgers get their identities from it. Never reuse one. */
  readonly seed: number;
  /** By the server's clock (TIME), whole ms: a call that begins later reads nothing and answers the error `LIMITERLATE <its time>`. */
  readonly deadline?: number | undefined;
  /**
   * The answer shall be one string of bytes, which costs the server and the client less than a list of numbers, and which the client must
   * hand over as a Buffer or Uint8Array. Left out, it is a list, for transports that carry text only.
   */
  readonly packedReply?: boolean | undefined;
}

export interface EncodedCall {
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

/** Later than any TIME, and short. */
const NO_DEADLINE = '9e15';

/**
 * One call for all `steps`: EVALSHA script, keys, args.
 *
 * @example
 * const { keys, args } = encodeCall(steps, { prefix: 'limiter', seed });
 * const reply = await redis.evalsha(scriptSha1, keys.length, ...keys, ...args);
 * const outcomes = decodeReply(reply, steps);
 */
export function encodeCall(steps: readonly Step[], options: EncodeOptions): EncodedCall {
  const { prefix, now, packedReply = false } = options;
  const isStraight = packedReply && now === undefined;
  const lone = loneCharge(steps, isStraight);
  if (lone !== undefined) {
    const [kind, ...numbers] = aloneArgs(lone, packedReply);
    return { keys: [keyOf(lone.ledger, prefix)], args: argsOf(kind, numbers, options) };
  }
  const few = isStraight ? encodeFew(steps, prefix) : undefined;
  if (few !== undefined) return { keys: few.keys, args: argsOf('t', [few.json], options) };
  const plain = steps.every(isPlain);
  const { keys, json } = plain ? encodePlain(steps, prefix) : encodeCallJson(steps, prefix);
  return { keys, args: argsOf(plain ? 'p' : 'g', [json], options) };
}

/** Kind, seed, deadline, numbers. On the caller's clock a capital letter, and `now` as the eighth. */
function argsOf(kind: string, numbers: readonly string[], options: EncodeOptions): readonly string[] {
  const { seed, now, deadline, packedReply } = options;
  const letter = now === undefined ? kind : kind.toUpperCase();
  const end = deadline === undefined ? NO_DEADLINE : `${deadline}`;
  const args = [packedReply ? letter : `${letter}a`, `${seed}`, end, ...numbers];
  return now === undefined ? args : [...args, ...Array<string>(4 - numbers.length).fill('0'), `${now}`];
}
