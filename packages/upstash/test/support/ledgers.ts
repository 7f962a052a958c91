/** Steps whose running can be seen from outside: each consumes one unit of a ledger that bears its name. */
import type { AskStep, DeadlineSignal, Outcome, Store } from '@limiter/core';
import type { RedisServer } from '@limiter/test-servers';

export function step(name: string, cost = 1): AskStep {
  return {
    op: 'consume',
    charges: [
      {
        ledger: { name: 'test/limit', grid: 'f3600000', values: [name] },
        rule: { algorithm: 'fixed-window', limit: 1000, windowMs: 3_600_000, align: 'first-request', offsetMs: 0 },
        cost,
        holdBack: 0,
        enforce: true,
      },
    ],
  };
}

export async function one(store: Store, name: string, signal?: AbortSignal): Promise<Outcome> {
  const [outcome] = await store.run([step(name)], signal);
  return outcome as Outcome;
}

export const faultOf = (outcome: Outcome | undefined): string => (outcome?.ok === false ? outcome.fault : 'ok');

/** `fault: message` of a fault, with the messages of its causes; `ok` otherwise. */
export function said(outcome: Outcome | undefined): string {
  if (outcome?.ok !== false) return 'ok';
  let text = outcome.fault as string;
  for (let cause = outcome.cause; cause instanceof Error; cause = cause.cause) text += `: ${cause.message}`;
  return text;
}

/** How often the step of this name has run: asked of `store`, which reaches Redis over another way than the one under test. */
export async function timesRun(store: Store, name: string): Promise<number> {
  const [outcome] = await store.run([{ ...step(name, 0), op: 'peek' }]);
  if (outcome?.ok !== true || outcome.op !== 'peek') throw new Error(`the ledger of ${name} cannot be read`);
  return 1000 - (outcome.verdicts[0]?.remaining ?? Number.NaN);
}

/** What the limiter passes down: a signal that says when it will abort. */
export function deadline(ms: number): DeadlineSignal {
  return Object.assign(AbortSignal.timeout(ms), { deadlineAt: performance.now() + ms });
}

/** A script call's name and how many keys it has. */
export function callOf(body: unknown): string {
  const [name, , keys] = body as readonly string[];
  return `${name} ${keys}`;
}

const DUMP = `local out = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
  local hex = string.gsub(redis.call('DUMP', key), '.', function(c) return string.format('%02x', string.byte(c)) end)
  out[#out + 1] = key .. '=' .. hex
end
table.sort(out)
return table.concat(out, '\\n')`;

/** Every key with its value, byte for byte; times to live left out. */
export async function dump(server: RedisServer): Promise<string> {
  return `${await server.cli('EVAL', DUMP, 0)}`;
}
