/**
 * Histories of several processes, many and small: whatever they saw, there is one order of their calls, no call before one that
 * had ended when it began, in which the model gives every answer that was given.
 */
import { type RedisServer, startRedis } from '@limiter/test-servers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Call } from './support/caller.js';
import { type Processes, startProcesses } from './support/processes.js';

const LIMIT = 10;
const PROCESSES = 3;
const CALLS = 4;
const SEEDS = 25;

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

/** Can these calls be put in one order that the limit explains? Search over the sets of calls that are done. */
function isExplained(history: readonly Call[]): boolean {
  const dead = new Set<number>();
  const all = 2 ** history.length - 1;
  const mayComeNext = (call: Call, done: number): boolean =>
    history.every(
      (other, i) => (done & (1 << i)) !== 0 || other === call || BigInt(other.endedNs) >= BigInt(call.startedNs),
    );
  const search = (done: number, used: number): boolean => {
    if (done === all) return true;
    if (dead.has(done)) return false;
    for (const [i, call] of history.entries()) {
      if ((done & (1 << i)) !== 0 || !mayComeNext(call, done)) continue;
      const allowed = used + call.cost <= LIMIT;
      const after = allowed ? used + call.cost : used;
      if (allowed !== call.allowed || call.remaining !== LIMIT - after) continue;
      if (search(done | (1 << i), after)) return true;
    }
    dead.add(done);
    return false;
  };
  return search(0, 0);
}

/** A whole number in least .. most, the same for the same seed. */
function drawn(seed: number, n: number, most: number): number {
  return 1 + ((Math.imul(seed * 31 + n + 1, 2_654_435_761) >>> 8) % most);
}

describe('the search for an order', () => {
  const call = (startedNs: number, endedNs: number, cost: number, allowed: boolean, remaining: number): Call => ({
    startedNs: String(startedNs),
    endedNs: String(endedNs),
    cost,
    allowed,
    remaining,
  });

  it('explains calls that overlap, in either order', () => {
    expect(isExplained([call(0, 10, 6, false, 5), call(1, 9, 5, true, 5)])).toBe(true);
  });

  it('explains neither a budget that was passed nor an answer from before its time', () => {
    expect(isExplained([call(0, 10, 6, true, 4), call(1, 9, 6, true, 4)])).toBe(false);
    expect(isExplained([call(0, 1, 6, false, 5), call(2, 3, 5, true, 5)])).toBe(false);
  });
});

describe.each(['fixed-window', 'sliding-window-log', 'token-bucket'] as const)('%s', (algorithm) => {
  it(`${SEEDS} histories of ${PROCESSES} processes are each explained by some order of their calls`, async () => {
    for (let seed = 0; seed < SEEDS; seed += 1) {
      const tasks = Array.from({ length: PROCESSES }, (_, process) => ({
        port: server.port,
        prefix: `histories-${algorithm}-${seed}`,
        device: `d${process}`,
        algorithm,
        deviceLimit: 1_000,
        atOnce: 2,
        calls: Array.from({ length: CALLS }, (_, n) => ({
          cost: drawn(seed, process * CALLS + n, 4),
          orgLimit: LIMIT,
        })),
      }));
      const history = (await processes.run(tasks)).flatMap((report) => report.history);
      expect(history).toHaveLength(PROCESSES * CALLS);
      expect(isExplained(history), `seed ${seed}: ${JSON.stringify(history)}`).toBe(true);
    }
  });
});
