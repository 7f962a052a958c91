import { describe, expect, it } from 'vitest';
import { inOrder, type LoggedRequest } from '../src/in-order.js';
import { mergeLogs } from '../src/merge-logs.js';
import { entry } from './log-fixtures.js';

const run = (
  seconds: readonly number[],
  windowSeconds = 60,
  maxHeld?: number,
): { lines: number[]; said: (string | undefined)[] } => {
  const order = inOrder(windowSeconds * 1_000, maxHeld);
  const out: LoggedRequest[] = [];
  const said = seconds.map((second, index) => order.push(entry(index + 1, second), out));
  order.finish(out);
  return { lines: out.map(({ line }) => line), said };
};

describe('the order of time', () => {
  it.each([
    [[1, 2, 3], [1, 2, 3], 'in order already'],
    [[1, 1, 1], [1, 2, 3], 'one instant keeps the order of its lines'],
    [[50, 52, 51], [1, 3, 2], 'a slow request stands behind a later one'],
    [[50, 52, 51, 52, 51], [1, 3, 5, 2, 4], 'several of them'],
    [[0, 60, 0], [1, 3, 2], 'exactly as old as the window'],
    [[0, 61, 0, 62], [1, 2, 3, 4], 'older than the window: not moved'],
  ])('gives %j out as lines %j: %s', (seconds, lines) => {
    expect(run(seconds).lines).toEqual(lines);
  });

  it('tells moved lines and steps back apart, and counts a second log behind the first as one step', () => {
    expect(run([50, 52, 51]).said).toEqual([undefined, undefined, 'moved']);
    expect(run([1_000, 1_001, 1, 2, 3]).said).toEqual([undefined, undefined, 'step-back', undefined, undefined]);
  });

  it('holds nothing longer than the window, nor more than it may', () => {
    const order = inOrder(2_000, 3);
    const out: LoggedRequest[] = [];
    order.push(entry(1, 10), out);
    order.push(entry(2, 11), out);
    expect(out).toHaveLength(0);
    order.push(entry(3, 12), out);
    expect(out.map(({ line }) => line)).toEqual([1]);
    for (const line of [4, 5, 6]) order.push(entry(line, 13), out);
    expect(out.map(({ line }) => line)).toEqual([1, 2, 3]);
    order.push(entry(7, 13), out);
    expect(out).toHaveLength(7);
  });
});

describe('several logs', () => {
  async function* log(index: number, ...batches: number[][]): AsyncGenerator<LoggedRequest[]> {
    let line = 0;
    for (const batch of batches) yield batch.map((second) => entry(++line, second, {}, index));
  }
  const merged = async (...logs: AsyncGenerator<LoggedRequest[]>[]): Promise<string[]> => {
    const out: string[] = [];
    for await (const batch of mergeLogs(logs)) out.push(...batch.map(({ log, line }) => `${log}:${line}`));
    return out;
  };

  it('are read as one, by time, whatever the order of their names', async () => {
    expect(await merged(log(0, [5, 6], [9]), log(1, [1, 2], [], [7]))).toEqual([
      '1:1',
      '1:2',
      '0:1',
      '0:2',
      '1:3',
      '0:3',
    ]);
  });

  it('take turns by the order of their names within one instant', async () => {
    expect(await merged(log(0, [1], [1]), log(1, [1, 1]))).toEqual(['0:1', '0:2', '1:1', '1:2']);
  });

  it('may be empty', async () => {
    expect(await merged(log(0), log(1, []), log(2, [1]))).toEqual(['2:1']);
  });
});
