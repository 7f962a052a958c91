/** One contender through one trouble: half a second of peace, a second and a half of trouble, then peace again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type RedisServer, startRedis, startSentinel } from '@limiter/test-servers';
import { quantile } from '../harness/result.js';
import { type Contender, DEADLINE_MS, type Struck } from './contenders.js';
import { HOT_KEYS, LIMIT, type Observed, SLICE_MS, startLoad } from './load.js';
import type { Trouble } from './troubles.js';

export interface Row {
  readonly trouble: string;
  readonly contender: string;
  readonly perSecond: number;
  readonly p99Ms: number;
  readonly longestMs: number;
  /** From the healing until 19 of 20 answers are the store's, and stay so; undefined: not within the time that was watched. */
  readonly recoveredMs: number | undefined;
  readonly admitted: number;
  /** The most that the policy allows. */
  readonly allowed: number;
  readonly thrown: number;
}

const BEFORE_MS = 500;
const TROUBLE_MS = 1_500;
const AFTER_MS = 2_200;
const BUDGET = HOT_KEYS * LIMIT;

function recoveredMs({ healing }: Observed): number | undefined {
  const slices = Array.from(healing, (slice) => slice ?? { own: 0, foreign: 0 });
  const bad = slices.findLastIndex(({ own, foreign }) => 19 * foreign > own);
  // The last slices are the end of the load.
  return bad >= slices.length - 4 ? undefined : (bad + 1) * SLICE_MS;
}

function rowOf(trouble: string, contender: string, observed: Observed, budgets: number): Row {
  const { struckAt, healedAt, latencies } = observed;
  return {
    trouble,
    contender,
    perSecond: Math.round(observed.decisionsInTrouble / ((healedAt - struckAt) / 1_000)),
    p99Ms: quantile(latencies, 0.99),
    longestMs: latencies.reduce((longest, one) => Math.max(longest, one), 0),
    recoveredMs: recoveredMs(observed),
    admitted: observed.admittedHot,
    allowed: budgets * BUDGET,
    thrown: observed.thrown,
  };
}

async function watch(
  struck: Struck,
  flight: number,
  strike: () => Promise<void>,
  heal: () => Promise<void>,
  lengths: { readonly troubleMs: number; readonly afterMs: number },
): Promise<Observed> {
  const load = startLoad(struck.ask, flight);
  await sleep(BEFORE_MS);
  load.observed.struckAt = performance.now();
  await strike();
  await sleep(lengths.troubleMs);
  await heal();
  load.observed.healedAt = performance.now();
  await sleep(lengths.afterMs);
  await load.stop(10 * DEADLINE_MS);
  return load.observed;
}

export async function through(trouble: Trouble, contender: Contender): Promise<Row> {
  const server: RedisServer = await startRedis();
  let struck: Struck | undefined;
  try {
    const where = { host: '127.0.0.1', port: server.port };
    if (contender.direct) await trouble.atStart?.(server);
    struck = await contender.make(where);
    if (!contender.direct) await trouble.atStart?.(server);
    const observed = await watch(
      struck,
      contender.flight,
      () => trouble.strike(server),
      () => trouble.heal(server),
      { troubleMs: TROUBLE_MS, afterMs: AFTER_MS },
    );
    return rowOf(trouble.name, contender.name, observed, 1 + contender.budgetsBeside + (trouble.forgets ? 1 : 0));
  } finally {
    await struck?.close();
    await server.stop();
  }
}

/** The healing is the failover itself: it is over when a Sentinel names another master. */
export async function throughFailover(contender: Contender): Promise<Row> {
  const group = await startSentinel();
  const struck = await contender.make({ sentinels: [...group.sentinels], name: group.name });
  const first = group.servers[0] as RedisServer;
  try {
    const promoted = async (): Promise<void> => {
      const until = performance.now() + 10_000;
      while (performance.now() < until && (await group.master()).port === first.port) await sleep(50);
    };
    const observed = await watch(struck, contender.flight, () => first.kill(), promoted, {
      troubleMs: 0,
      afterMs: 3_000,
    });
    // The replica may not have seen the last charges: what it lacks is admitted again, at most one budget.
    return rowOf('Sentinel failover', contender.name, observed, 2 + contender.budgetsBeside);
  } finally {
    await struck.close();
    await group.stop();
  }
}
