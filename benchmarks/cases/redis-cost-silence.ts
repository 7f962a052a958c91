/** Cases for the life of a sliding log: its first charge, an admit, a refund, the first charge after everything expired. */
import { ruleGrid } from '@limiter/core';
import type { Redis } from 'ioredis';
import { quick } from '../harness/settings.js';
import { type Cost, charge, consume, ledger, log, type Program } from './redis-cost-steps.js';

const LOGS = 50;
const rule = log(2 ** 50);
const keyOf = (name: string): string => `limiter:{x}${name}:${ruleGrid(rule)}`;

export async function silences(redis: Redis, { ask, fill, ours }: Program): Promise<readonly Cost[]> {
  await fill('silent/x', quick ? 500 : 10_000, 2 ** 50, 1_100_000);

  /** The first consume of each of 50 logs: new ones, or copies of the silent one. Only these calls are counted. */
  function first(name: string, isNew: boolean): Cost {
    const names = Array.from({ length: LOGS }, (_, i) => `${isNew ? 'new' : 'old'}${i}/x`);
    const { run } = ours(name, LOGS, (i) => [consume(charge(rule, names[i % LOGS] as string, 'x'))]);
    return {
      name,
      steps: 1,
      calls: LOGS,
      async run(count) {
        await redis.unlink(names.map(keyOf));
        if (!isNew) for (const one of names) await redis.copy(keyOf('silent/x'), keyOf(one));
        await redis.config('RESETSTAT');
        await run(count);
      },
    };
  }

  /** Each call charges and gives back in two scripts; what is counted is both. */
  const refunded: Cost = {
    name: 'an admit and its refund, each',
    steps: 1,
    calls: 50,
    async run(count) {
      for (let i = 0; i < count; i += 1) {
        const outcome = (await ask([consume(charge(rule, 'newest/x', 'x', 3))]))[0];
        if (!outcome?.ok || outcome.op !== 'consume') throw new Error('not charged');
        const mark = outcome.verdicts[0]?.mark;
        const of = { ledger: ledger(rule, 'newest/x', 'x'), rule, mark, charged: 3 };
        await ask([{ op: 'adjust', adjustments: [{ ...of, change: 'give-back', amount: 3 }] }]);
      }
    },
  };

  return [
    ours('an admit', 100, () => [consume(charge(rule, 'admit/x', 'x'))]),
    refunded,
    first('first consume of a new log', true),
    first('first consume after silence, 10,000 entries', false),
  ];
}
