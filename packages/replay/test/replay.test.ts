import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseLimitTexts } from '../src/limit-text.js';
import { type ReplayOptions, replay } from '../src/replay.js';
import type { ReplayReport } from '../src/report.js';
import { combined, fixture } from './log-fixtures.js';

const WORDPRESS = fixture('wordpress-2025.access.log.gz');
const BURST = fixture('burst-2009.access.log.gz');
const FIXED = '20/60s fixed-window by ip';
const LOG = '20/60s sliding-window-log by ip';
const BUCKET = '20/60s token-bucket by ip';

const folder = mkdtempSync(join(tmpdir(), 'limiter-replay-'));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
function file(...lines: readonly string[]): string {
  const name = join(folder, `${++files}.log`);
  writeFileSync(name, lines.map((line) => `${line}\n`).join(''));
  return name;
}
const run = (
  logs: string | readonly string[],
  limits: readonly string[],
  options: Partial<ReplayOptions> = {},
): Promise<ReplayReport> => replay({ logs: [logs].flat(), limits: parseLimitTexts(limits), ...options });

describe('a real log: 20 requests in 60 seconds for each client', () => {
  it.each([
    [FIXED, 326, 19],
    [LOG, 405, 20],
    [BUCKET, 281, 16],
  ])('%s rejects %i requests of %i clients', async (limit, refused, clients) => {
    const { together, limits } = await run(WORDPRESS, [limit]);
    expect(together).toMatchObject({ refused, allowed: 10_000 - refused, clients: { count: clients, exact: true } });
    expect(limits[0]?.alone).toMatchObject({ refused, clients: { count: clients } });
  });

  it('gives each limit the same figures alone when several are asked at once', async () => {
    const { limits } = await run(WORDPRESS, [FIXED, LOG, BUCKET]);
    expect(limits.map(({ alone }) => [alone.refused, alone.clients.count])).toEqual([
      [326, 19],
      [405, 20],
      [281, 16],
    ]);
  });
});

describe('several limits', () => {
  const lines = [0, 0, 0, 0, 1, 1, 2].map((second) => combined(second));

  it('are one question: a request that one refuses is charged to none', async () => {
    // One each second, five in a minute. Charged for refusals, the second limit would be used up after five requests.
    const report = await run(file(...lines), ['second: 1/1s fixed-window', 'minute: 5/1m fixed-window']);
    expect(report.together).toMatchObject({ allowed: 3, refused: 4 });
    const [second, minute] = report.limits;
    expect(second?.together).toMatchObject({ refused: 4, onlyThis: 4, peak: { used: 1, of: 1 } });
    expect(minute?.together).toMatchObject({ refused: 0, onlyThis: 0, peak: { used: 3, of: 5, line: 7 } });
    expect(minute?.alone).toMatchObject({ refused: 2, peak: { used: 5, line: 5 } });
  });

  it('refuse together what any of them refuses, each with its own part in it', async () => {
    // The figures were computed apart from this code, from the definitions of the three algorithms.
    const { together, limits } = await run(WORDPRESS, [FIXED, LOG, BUCKET]);
    expect(together).toMatchObject({ allowed: 9_595, refused: 405, clients: { count: 20 } });
    expect(limits.map(({ together: { refused, clients, onlyThis } }) => [refused, clients.count, onlyThis])).toEqual([
      [161, 16, 0],
      [405, 20, 244],
      [39, 6, 0],
    ]);
  });

  it('in shadow are counted but never refuse', async () => {
    const alone = await run(WORDPRESS, [LOG]);
    const { together, limits } = await run(WORDPRESS, [LOG, 'nothing: 0/1s fixed-window by * shadow']);
    expect(together.refused).toBe(alone.together.refused);
    expect(limits[1]).toMatchObject({
      mode: 'shadow',
      together: { refused: 10_000, onlyThis: 0 },
      alone: { refused: 10_000 },
    });
  });

  it('leave out requests that they do not apply to', async () => {
    const odd = combined(1).replace('GET / HTTP/1.1', '\\x16\\x03\\x01');
    const { limits, together } = await run(file(combined(0), odd, combined(2)), [
      '0/1s fixed-window by path',
      '9/1s fixed-window by user',
    ]);
    expect(limits.map(({ judged, skipped }) => [judged, skipped])).toEqual([
      [2, 1],
      [0, 3],
    ]);
    expect(together).toMatchObject({ allowed: 1, refused: 2 });
  });
});

describe('the report', () => {
  it('names the first refusal, the peak, and the worst clients with their busiest path', async () => {
    const [a, b] = ['192.0.2.1', '192.0.2.2'];
    const lines = [
      combined(0, { client: b }),
      combined(1, { client: a, path: '/login' }),
      combined(2, { client: a, path: '/login?try=2' }),
      combined(3, { client: a, path: '/login' }),
      combined(4, { client: a, path: '/' }),
      combined(5, { client: b, path: '/' }),
      combined(6, { client: b, path: '/' }),
    ];
    const log = file(...lines);
    const { limits, clients, span } = await run(log, ['2/1m sliding-window-log']);
    const at = (second: number): string => new Date(Date.UTC(2026, 0, 1) + second * 1_000).toISOString();
    expect(limits[0]?.together).toMatchObject({
      refused: 3,
      share: 0.428571,
      clients: { count: 2, exact: true },
      clientShare: 1,
      first: { at: at(3), log, line: 4, client: a, method: 'GET', path: '/login' },
      peak: { used: 2, of: 2, ledger: [a], at: at(2), line: 3 },
      worst: [
        { client: a, refused: { count: 2 }, requests: { count: 4 }, busiestPath: '/login', busiestPathRefused: 1 },
        { client: b, refused: { count: 1 }, requests: { count: 3 }, busiestPath: '/', busiestPathRefused: 1 },
      ],
    });
    expect(clients).toEqual({ count: 2, exact: true, internalRequests: 0 });
    expect(span).toEqual({ from: at(0), to: at(6), ms: 6_000, offsetMinutes: 0 });
  });

  it('counts every refusal once over time', async () => {
    const { limits, requestsOverTime, together } = await run(WORDPRESS, [LOG]);
    const sum = (counts: readonly number[] = []): number => counts.reduce((total, count) => total + count, 0);
    expect(sum(requestsOverTime.counts)).toBe(10_000);
    expect(sum(together.overTime.counts)).toBe(405);
    expect(sum(limits[0]?.together.overTime.counts)).toBe(405);
    expect(together.overTime).toMatchObject({ from: requestsOverTime.from, columnMs: requestsOverTime.columnMs });
    expect(requestsOverTime.counts.length).toBeLessThanOrEqual(60);
  });

  it('accounts for every line: requests, odd ones, unreadable ones by reason with an example, blank ones', async () => {
    const { lines, logs } = await run(
      [fixture('formats/apache-combined.access.log'), file('', 'garbage', combined(0), 'garbage', '{"a":1}')],
      [LOG],
    );
    expect(lines).toMatchObject({ read: 31, requests: 27, blank: 1, sorted: 1, stepsBack: null });
    expect(lines.odd).toMatchObject([
      { reason: 'malformed', lines: 4, example: { line: 6 } },
      { reason: 'nothing', lines: 1, example: { line: 14 } },
    ]);
    expect(lines.unreadable).toMatchObject([
      { reason: 'no-time', lines: 2, example: { line: 2, log: expect.stringMatching(/\.log$/) } },
      { reason: 'json', lines: 1, example: { line: 5 } },
    ]);
    expect(logs.map((log) => log.lines)).toEqual([26, 5]);
  });

  it('has the same fields, by name, in every format 1', async () => {
    const report = await run(
      [BURST, fixture('formats/nginx-combined.access.log')],
      ['20/1s token-bucket', 'x: 1/1h fixed-window by * shadow'],
      { worst: 1 },
    );
    const shape = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.length === 0 ? [] : [shape(value[0])];
      if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shape(inner)]));
    };
    expect(shape(report)).toMatchSnapshot();
  });
});

describe('time', () => {
  it('is that of the lines: requests of one second fall at the same instant, the next window opens with its second', async () => {
    const lines = [59, 59, 59, 60, 60].map((second) => combined(second));
    expect((await run(file(...lines), ['2/1m fixed-window'])).together).toMatchObject({ refused: 1, allowed: 4 });
    expect((await run(file(...lines), ['2/1m sliding-window-log'])).together).toMatchObject({ refused: 3, allowed: 2 });
  });

  it('puts a slow request where it arrived', async () => {
    // Judged in the order of lines, the request at 9 s would be the third in its window.
    const lines = [combined(10), combined(11), combined(9)];
    const { lines: seen, limits } = await run(file(...lines), ['1/10s fixed-window']);
    expect(seen.sorted).toBe(1);
    expect(limits[0]?.together).toMatchObject({ refused: 1, first: { line: 2 } });
  });

  it('takes logs in any order, and two front ends as one', async () => {
    const older = file(combined(0), combined(1));
    const newer = file(combined(61), combined(62));
    const report = await run([newer, older], ['1/1m fixed-window']);
    expect(report.together).toMatchObject({ allowed: 2, refused: 2 });
    expect(report.lines.stepsBack).toBeNull();
    const twins = await run([file(combined(0), combined(2)), file(combined(1))], ['2/1m fixed-window']);
    expect(twins.together).toMatchObject({ refused: 1, first: { line: 2 } });
  });

  it('steps back with a log that does, says so, and locks nobody out', async () => {
    const log = file(combined(7_200), combined(7_200), combined(0), combined(0), combined(61));
    const { lines, together } = await run(log, ['2/1m fixed-window']);
    expect(lines.stepsBack).toEqual({ reason: 'step-back', lines: 1, example: { log, line: 3 } });
    // The ledger moves with the clock and keeps what was used: refused at 0 s, free again in the next window.
    expect(together).toMatchObject({ allowed: 3, refused: 2 });
  });

  it('reads the zone of each line', async () => {
    const east = combined(3_600).replace('+0000', '+0100');
    expect((await run(file(combined(0), east), ['1/1s fixed-window'])).together.refused).toBe(1);
  });
});

describe('keys', () => {
  it('are axes: each value, and each pair of values, has its own budget', async () => {
    const lines = [
      combined(0, { path: '/a' }),
      combined(0, { path: '/b' }),
      combined(0, { path: '/a', client: '192.0.2.9' }),
    ];
    const refused = async (by: string): Promise<number> =>
      (await run(file(...lines), [`1/1m fixed-window by ${by}`])).together.refused;
    expect([
      await refused('ip'),
      await refused('path'),
      await refused('ip, path'),
      await refused('*'),
      await refused('method'),
      await refused('status-class'),
      await refused('agent'),
    ]).toEqual([1, 1, 0, 2, 2, 2, 2]);
  });

  it('that do not fit are reported, never dropped in silence', async () => {
    const lines = Array.from({ length: 50 }, (_, index) => combined(index % 10, { client: `192.0.2.${index}` })).sort();
    const { evictedLiveKeys } = await run(file(...lines), ['5/1h fixed-window'], { maxKeys: 10 });
    expect(evictedLiveKeys).toBeGreaterThanOrEqual(30);
    expect((await run(file(...lines), ['5/1h fixed-window'])).evictedLiveKeys).toBe(0);
  });
});
