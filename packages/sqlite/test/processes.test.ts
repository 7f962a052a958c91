import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { Rule } from '@limiter/core';
import { describe, expect, it } from 'vitest';
import { sqliteStore } from '../src/index.js';
import { open, value } from './support/database.js';
import { newFile } from './support/files.js';
import { start } from './support/processes.js';
import { asked, charge, consume, peek } from './support/steps.js';

interface Counts {
  readonly calls: number;
  readonly cost: number;
  readonly faults: readonly string[];
  readonly longestMs: number;
  readonly ids: readonly number[];
}

async function hammer(processes: number, file: string, calls: number, kinds: readonly string[]): Promise<Counts[]> {
  const startAt = String(Date.now() + 2_500);
  const programs = Array.from({ length: processes }, (_, i) =>
    start('hammer.ts', file, String(calls), kinds[i % kinds.length] as string, startAt),
  );
  const outputs = await Promise.all(programs.map(({ output }) => output));
  return outputs.map((output) => JSON.parse(output) as Counts);
}

const sum = (counts: readonly Counts[], what: 'calls' | 'cost'): number =>
  counts.reduce((total, one) => total + one[what], 0);

describe('several processes on one file', () => {
  it.each([
    [2, ['sync']],
    [4, ['sync', 'async']],
  ])(
    '%i processes admit exactly the limit, on two limits with different costs, and nobody sees SQLITE_BUSY',
    async (processes, kinds) => {
      const counts = await hammer(processes, newFile(), 1_000, kinds);
      expect(counts.flatMap(({ faults }) => faults)).toEqual([]);
      // Calls run out first; what the second limit took is what the admitted calls cost.
      expect(sum(counts, 'calls')).toBe(500);
      expect(sum(counts, 'cost')).toBeLessThanOrEqual(1_200);
    },
    60_000,
  );

  it('leave in the file what they were told that they had charged', async () => {
    const file = newFile();
    const counts = await hammer(2, file, 200, ['sync']);
    const store = sqliteStore(file);
    const log: Rule = { algorithm: 'sliding-window-log', limit: 1_200, windowMs: 3_600_000_000 };
    const outcome = asked(store.runSync(peek(charge(log, 1, ['everybody'], 'test/cost'))));
    expect(outcome.verdicts[0]?.remaining).toBe(1_200 - sum(counts, 'cost'));
    await store.close?.();
  }, 60_000);

  it.each([
    [200, 400],
    [1_000, 500],
  ])(
    'with %i calls each to one limit of 500, two processes charge %i: none more, and none is lost',
    async (calls, admitted) => {
      const file = newFile();
      const counts = await hammer(2, file, calls, ['one']);
      expect(counts.flatMap(({ faults }) => faults)).toEqual([]);
      expect(sum(counts, 'calls')).toBe(admitted);
      expect(value(open(file), 'SELECT amount FROM limiter_ledger')).toBe(admitted);
    },
    60_000,
  );

  it('never give two ledgers one identity', async () => {
    const counts = await hammer(4, newFile(), 2_000, ['ids']);
    const ids = counts.flatMap((one) => one.ids);
    expect(ids).toHaveLength(8_000);
    expect(new Set(ids).size).toBe(8_000);
    expect(ids.every((id) => Number.isSafeInteger(id) && id >= 0)).toBe(true);
  }, 60_000);
});

describe('a process that takes the lock again as soon as it has let it go', () => {
  it.each(['runSync', 'run'] as const)(
    'keeps charges by %s waiting, but hardly any longer than busyTimeout',
    async (form) => {
      const file = newFile();
      const store = sqliteStore(file);
      const rule: Rule = {
        algorithm: 'fixed-window',
        limit: 1_000,
        windowMs: 2 ** 41,
        align: 'first-request',
        offsetMs: 0,
      };
      const step = consume(charge(rule));
      const { child, output } = start('greedy.ts', file);
      await once(child.stdout as Readable, 'data');
      let faults = 0;
      for (let i = 0; i < 200; i += 1) {
        const outcome = form === 'run' ? (await store.run([step]))[0] : store.runSync(step);
        if (outcome?.ok !== true) faults += 1;
      }
      child.kill('SIGKILL');
      await output;
      await store.close?.();
      // None, unless the machine lets the other process stand still with the lock in its hand; of charges that try once a ms, most.
      expect(faults).toBeLessThan(40);
    },
    60_000,
  );
});

describe('a process that is killed in the middle', () => {
  it('leaves a sound file in which every answered charge lies once, on all three limits', async () => {
    const file = newFile();
    let answered = 0;
    const rounds = 8;
    for (let round = 0; round < rounds; round += 1) {
      const { child, output } = start('victim.ts', file);
      // It is killed while it charges: after a number of answers that is different each time.
      let seen = 0;
      child.stdout?.on('data', (chunk: string) => {
        seen += chunk.length;
        if (seen > 150 + round * 37) child.kill('SIGKILL');
      });
      const text = await output;
      expect(text.replaceAll('.', '')).toBe('');
      answered += text.length;
    }
    expect(value(open(file), 'PRAGMA integrity_check')).toBe('ok');

    const store = sqliteStore(file);
    const windowMs = 2 ** 41;
    const limit = 1_000_000;
    const rules: readonly Rule[] = [
      { algorithm: 'fixed-window', limit, windowMs, align: 'first-request', offsetMs: 0 },
      { algorithm: 'sliding-window-log', limit, windowMs },
      { algorithm: 'fixed-window', limit, windowMs: windowMs - 1, align: 'first-request', offsetMs: 0 },
    ];
    const charges = rules.map((rule, i) => charge(rule, 1, ['everybody'], `victim/limit${i}`));
    const used = asked(store.runSync(peek(...charges))).verdicts.map(({ remaining }) => limit - remaining);
    await store.close?.();
    // Each killed process may have committed one charge whose answer it could not write any more.
    expect(new Set(used).size).toBe(1);
    expect(used[0]).toBeGreaterThanOrEqual(answered);
    expect(used[0]).toBeLessThanOrEqual(answered + rounds);
  }, 120_000);
});
