import { type RedisServer, startRedis } from '@limiter/test-servers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Report, Task } from './support/caller.js';
import { assertTidy } from './support/keyspace.js';
import { type Processes, startProcesses } from './support/processes.js';

const PROCESSES = 4;
const CALLS = 250;
const ALGORITHMS = ['fixed-window', 'sliding-window-log', 'token-bucket'] as const;
const PREFIX = 'processes';

let server: RedisServer;
let processes: Processes;
beforeAll(async () => {
  server = await startRedis();
  processes = startProcesses(PROCESSES);
});
afterAll(async () => {
  processes.stop();
  await server.stop();
});
beforeEach(() => server.cli('FLUSHALL'));

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const admittedCost = (reports: readonly Report[]): number => sum(reports.flatMap(({ admitted }) => admitted));
const noneFailed = (reports: readonly Report[]): void => expect(sum(reports.map(({ failed }) => failed))).toBe(0);

/** Costs that differ, the same in every run. */
const costOf = (call: number): number => 1 + ((call * 7) % 5);

function tasks(make: (process: number) => Partial<Task> & Pick<Task, 'algorithm' | 'calls'>): readonly Task[] {
  return Array.from({ length: PROCESSES }, (_, process) => ({
    port: server.port,
    prefix: PREFIX,
    device: `d${process}`,
    deviceLimit: 1_000_000,
    atOnce: CALLS,
    ...make(process),
  }));
}
const calls = (cost: (call: number) => number, orgLimit: number): Task['calls'] =>
  Array.from({ length: CALLS }, (_, call) => ({ cost: cost(call), orgLimit }));

describe.each(ALGORITHMS)('%s', (algorithm) => {
  it('4 processes with 250 calls each on one key admit exactly the limit', async () => {
    const reports = await processes.run(tasks(() => ({ algorithm, calls: calls(() => 1, 137) })));
    noneFailed(reports);
    expect(admittedCost(reports)).toBe(137);
    await assertTidy(server, PREFIX);
  });

  it('the same with costs from 1 to 5, few at a time: the limit is used up to the last unit', async () => {
    const reports = await processes.run(tasks(() => ({ algorithm, calls: calls(costOf, 1_003), atOnce: 5 })));
    noneFailed(reports);
    expect(admittedCost(reports)).toBe(1_003);
  });

  it('two limits on different axes: a refusal by one leaves the other uncharged', async () => {
    const reports = await processes.run(
      tasks((process) => ({
        algorithm,
        calls: calls(() => 1, 100),
        deviceLimit: process === 0 ? 10 : 1_000,
        atOnce: 50,
      })),
    );
    noneFailed(reports);
    expect(admittedCost(reports)).toBe(100);
    expect(reports[0]?.admitted.length).toBeLessThanOrEqual(10);
    // What each device has left is what it was admitted for, nothing else: ask with a limit that leaves room.
    const more = await processes.run(
      tasks((process) => ({ algorithm, calls: calls(() => 1, 1_000_000), deviceLimit: 60 + process, atOnce: 50 })),
    );
    for (let process = 0; process < PROCESSES; process += 1) {
      const before = reports[process]?.admitted.length as number;
      expect(more[process]?.admitted.length).toBe(Math.max(0, 60 + process - before));
    }
  });

  it('a limit that goes from 100 to 10 to 200 under load keeps what was consumed', async () => {
    const reports = await processes.run(
      tasks(() => ({
        algorithm,
        calls: [...calls(() => 1, 100), ...calls(() => 1, 10), ...calls(() => 1, 200)],
        atOnce: 50,
      })),
    );
    noneFailed(reports);
    expect(admittedCost(reports)).toBe(200);
  });
});
