/** A store whose program writes down every step that it runs, so that a test can see what ran, how often and in which calls. */
import { createHash } from 'node:crypto';
import type { AskStep, Outcome, Step } from '@limiter/core';
import type { Program } from '@limiter/redis-lua';
import type { RedisServer } from '@limiter/test-servers';
import { linkMakerFor, type RedisStoreClient } from '../../src/link-maker.js';
import { type RedisStore, storeOver } from '../../src/store-over.js';
import type { RedisWarning } from '../../src/warnings.js';

const SCRIPT = `local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
if ARGV[1] ~= '' and now > tonumber(ARGV[1]) then return { err = string.format('LIMITERLATE %.0f', now) } end
for i = 2, #ARGV do redis.call('RPUSH', KEYS[1], ARGV[i]) end
redis.call('RPUSH', KEYS[1] .. ':calls', #ARGV - 1)
return string.format('%.0f', now)`;

const nameOf = (step: Step): string => (step as AskStep).charges[0]?.ledger.values[0] ?? '';

export const recordingProgram: Program = {
  script: SCRIPT,
  sha1: createHash('sha1').update(SCRIPT).digest('hex'),
  encode: (steps, deadline) => {
    const names = steps.map(nameOf);
    if (names.includes('unwritable')) throw new Error('a step that cannot be written down');
    return { keys: ['ran'], args: [`${deadline ?? ''}`, ...names] };
  },
  decode: (reply, steps): readonly Outcome[] =>
    steps.map(() => ({ ok: true, op: 'consume', now: Number(String(reply)), allowed: true, verdicts: [] })),
};

export function recordingStore(
  client: RedisStoreClient,
  options: { readonly shared?: boolean; readonly staleAfterMs?: number; readonly warnings?: RedisWarning[] } = {},
): RedisStore {
  return storeOver({
    makeLink: linkMakerFor(client, options.shared === true),
    makeProgram: () => recordingProgram,
    clock: 'own',
    staleAfterMs: options.staleAfterMs ?? 1000,
    prefix: '',
    giveBack: false,
    warn: (warning) => options.warnings?.push(warning),
  });
}

/** A step that is written down as `name`. */
export function step(name: string): AskStep {
  return {
    op: 'consume',
    charges: [
      {
        ledger: { name: 'test/limit', grid: 'f1000', values: [name] },
        rule: { algorithm: 'fixed-window', limit: 1, windowMs: 1000, align: 'clock', offsetMs: 0 },
        cost: 1,
        holdBack: 0,
        enforce: true,
      },
    ],
  };
}

/** Every step that ran, in order. */
export async function ran(server: RedisServer): Promise<readonly string[]> {
  return (await server.cli('LRANGE', 'ran', 0, -1)) as readonly string[];
}

/** How many steps each call carried. */
export async function calls(server: RedisServer): Promise<readonly number[]> {
  return ((await server.cli('LRANGE', 'ran:calls', 0, -1)) as readonly string[]).map(Number);
}
