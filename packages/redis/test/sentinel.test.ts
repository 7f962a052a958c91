import { setTimeout as sleep } from 'node:timers/promises';
import type { DeadlineSignal, Outcome } from '@limiter/core';
import { type RedisSentinel, startSentinel, until } from '@limiter/test-servers';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ran, recordingStore, step } from './support/recording.js';

const makers = {
  'ioredis 6': (group: RedisSentinel) => new Redis({ sentinels: [...group.sentinels], name: group.name }),
  'ioredis 5': (group: RedisSentinel) => new Redis5({ sentinels: [...group.sentinels], name: group.name }),
};

let group: RedisSentinel;
beforeEach(async () => {
  group = await startSentinel();
}, 30_000);
afterEach(() => group.stop());

function deadline(ms: number): DeadlineSignal {
  return Object.assign(AbortSignal.timeout(ms), { deadlineAt: performance.now() + ms });
}

describe.each(Object.entries(makers))('with %s', (name, make) => {
  // What a stopped master is to one version it is to the other; each case takes several seconds.
  it.each(name === 'ioredis 6' ? ['killed', 'stopped'] : ['killed'])(
    'a master that is %s: the promoted replica serves, and no step ever runs twice',
    async (how) => {
      const client = make(group);
      (client as Redis).on('error', () => undefined);
      const store = recordingStore(client);
      const one = async (name: string): Promise<Outcome> =>
        (await store.run([step(name)], deadline(250)))[0] as Outcome;
      const [first, second] = group.servers;
      const faults = new Map<string, number>();
      const done: string[] = [];
      let lastAt = 0;
      let longestGapMs = 0;
      let asking = true;
      const load = (async () => {
        for (let i = 0; asking; i += 1) {
          const outcome = await one(`s${i}`);
          const now = performance.now();
          if (outcome.ok) {
            done.push(`s${i}`);
            if (lastAt > 0) longestGapMs = Math.max(longestGapMs, now - lastAt);
            lastAt = now;
          } else {
            faults.set(outcome.fault, (faults.get(outcome.fault) ?? 0) + 1);
          }
          await sleep(2);
        }
      })();
      await sleep(300);
      const before = done.length;
      if (how === 'killed') await first?.kill();
      else first?.pause();
      await until('the replica is master', 15_000, async () => `${await second?.cli('ROLE')}`.startsWith('master'));
      const promotedAt = performance.now();
      const count = done.length;
      await until('decisions are made again', 15_000, async () => done.length > count + 20);
      const recoveryMs = performance.now() - promotedAt;
      asking = false;
      await load;
      const seen = await ran(second as NonNullable<typeof second>);
      expect(new Set(seen).size).toBe(seen.length);
      // Everything that was answered by the new master is there.
      const after = done.slice(before);
      expect(seen.slice(-10)).toEqual(after.slice(-10));
      expect([...faults.keys()].every((fault) => ['unreachable', 'unknown-outcome', 'refused'].includes(fault))).toBe(
        true,
      );
      console.log(
        `${how}: decisions again ${Math.round(recoveryMs)} ms after the promotion, longest gap ${Math.round(longestGapMs)} ms,`,
        `faults ${JSON.stringify([...faults])}`,
      );
      expect(recoveryMs).toBeLessThan(4000);
      await store.close();
      client.disconnect();
    },
    40_000,
  );
});
