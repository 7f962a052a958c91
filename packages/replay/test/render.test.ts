import { describe, expect, it } from 'vitest';
import { screen } from '../src/layout.js';
import { renderJson } from '../src/render-json.js';
import { renderText } from '../src/render-text.js';
import type { LimitReport, Moment, Refusals, ReplayReport } from '../src/report.js';

const moment = (line: number, client: string, path: string | null): Moment => ({
  at: '2025-04-19T11:01:50.000Z',
  log: 'access.log',
  line,
  client,
  method: path === null ? null : 'GET',
  path,
});
const overTime = (...counts: number[]) => ({ from: '2025-04-17T04:00:00.000Z', columnMs: 7_200_000, counts });
const NOTHING: Refusals = {
  refused: 0,
  share: 0,
  clients: { count: 0, exact: true },
  clientShare: 0,
  first: null,
  worst: [],
  overTime: overTime(0, 0, 0),
};
const SOME: Refusals = {
  refused: 405,
  share: 0.0405,
  clients: { count: 20, exact: true },
  clientShare: 0.013957,
  first: moment(1_234, '198.18.1.19', '/wp-login.php'),
  worst: [
    {
      client: '198.18.4.96',
      refused: { count: 219, exact: true },
      requests: { count: 502, exact: true },
      busiestPath: '/wp-login.php',
      busiestPathRefused: 210,
    },
    {
      client: '2001:db8:1111:2222:3333:4444:5555:6666',
      refused: { count: 3, exact: false },
      requests: { count: 9, exact: true },
      busiestPath: null,
      busiestPathRefused: 3,
    },
  ],
  overTime: overTime(0, 400, 5),
};
const limit = (fields: Partial<LimitReport>, refusals: Refusals = SOME): LimitReport => ({
  name: 'sliding-window-log',
  limit: '20/60s sliding-window-log by ip',
  algorithm: 'sliding-window-log',
  by: ['ip'],
  mode: 'enforce',
  judged: 10_000,
  skipped: 0,
  together: {
    ...refusals,
    onlyThis: 7,
    peak: { used: 20, of: 20, ledger: ['198.18.1.19'], ...moment(1_200, '198.18.1.19', '/') },
  },
  alone: { ...refusals, peak: null },
  ...fields,
});
const report = (limits: readonly LimitReport[], fields: Partial<ReplayReport> = {}): ReplayReport => ({
  format: 1,
  logs: [{ name: 'access.log', lines: 10_000 }],
  lines: { read: 10_000, requests: 10_000, blank: 0, unreadable: [], odd: [], sorted: 0, stepsBack: null },
  span: { from: '2025-04-17T04:10:56.000Z', to: '2025-05-02T15:43:52.000Z', ms: 1_337_576_000, offsetMinutes: 120 },
  clients: { count: 1_433, exact: true, internalRequests: 0 },
  requestsOverTime: overTime(100, 9_000, 900),
  together: { allowed: 9_595, ...SOME },
  limits,
  evictedLiveKeys: 0,
  ...fields,
});

const full = report(
  [
    limit({}),
    limit({
      name: 'everybody-and-every-path',
      limit: '100/60s token-bucket capacity 250 by ip, path, method shadow',
      algorithm: 'token-bucket',
      by: ['ip', 'path', 'method'],
      mode: 'shadow',
      skipped: 12,
    }),
  ],
  {
    logs: [
      { name: 'access.log', lines: 9_000 },
      { name: '/var/log/nginx/access.log.1', lines: 1_000 },
    ],
    lines: {
      read: 10_026,
      requests: 10_000,
      blank: 2,
      unreadable: [{ reason: 'syslog', lines: 24, example: { log: 'access.log', line: 1 } }],
      odd: [{ reason: 'malformed', lines: 5, example: { log: '/var/log/nginx/access.log.1', line: 6 } }],
      sorted: 1,
      stepsBack: { reason: 'step-back', lines: 1, example: { log: 'access.log', line: 77 } },
    },
    clients: { count: 500_000, exact: false, internalRequests: 9_000 },
    evictedLiveKeys: 3,
  },
);

describe('the text', () => {
  it.each([80, 120])('fits into %i columns', (width) => {
    const lines = renderText(full, screen(width, false)).split('\n');
    expect(lines.filter((line) => [...line].length > width)).toEqual([]);
  });

  it('says for one limit what was refused, to whom, when first, and where the most was used', () => {
    const text = renderText(report([limit({})]), screen(100, false));
    for (const words of [
      '10,000 requests of 1,433 clients in 15 days 11 hours',
      '2025-04-17 06:10:56 to 2025-05-02 17:43:52 +0200, access.log',
      'This limit: 9,595 allowed, 405 refused (4.05%), 20 clients (1.40%)',
      '405 of 10,000 requests (4.05%), 20 clients (1.40%)',
      '198.18.1.19 GET /wp-login.php   2025-04-19 13:01:50, line 1,234',
      '20 of 20 used by 198.18.1.19',
      '/wp-login.php (210)',
      '≥ 3',
      'no path (3)',
    ]) {
      expect(text).toContain(words);
    }
    expect(text).not.toContain('alone');
  });

  it('compares each of several limits with what it would refuse alone', () => {
    const text = renderText(full, screen(100, false));
    expect(text).toContain('These 2 limits together: 9,595 allowed, 405 refused');
    expect(text).toMatch(/together +clients +alone +clients +peak/);
    expect(text).toContain('7 of them by this limit only');
    expect(text).toContain('would refuse');
    expect(text).toContain('12 requests: the log has no ip or path or method there');
  });

  it('warns of everything that makes the figures doubtful', () => {
    const text = renderText(full, screen(200, false));
    for (const words of [
      '! 3 ledgers had to be forgotten while still in use',
      '! Time steps back once, first at access.log line 77',
      '! 90.0% of the requests come from internal addresses',
      '24 lines of 10,026 could not be read',
      'a syslog line of another format',
      '5 odd requests, judged like any other',
      '1 line stood behind a newer one and was put in order.',
    ]) {
      expect(text).toContain(words);
    }
  });

  it('is content with a log in which nothing is refused, and with an empty one', () => {
    const calm = renderText(
      report([limit({}, NOTHING)], { together: { allowed: 10_000, ...NOTHING } }),
      screen(80, false),
    );
    expect(calm).toContain('0 refused (0%)');
    expect(calm).toContain('none of 10,000 requests');
    const empty = report([limit({}, NOTHING)], { span: null, lines: { ...report([]).lines, read: 0, requests: 0 } });
    expect(renderText(empty, screen(80, false))).toBe('No requests in 0 lines of access.log\n');
  });

  it('is coloured only where asked', () => {
    expect(renderText(full, screen(80, false))).not.toContain('\u001b');
    expect(renderText(full, screen(80, true))).toContain('\u001b');
  });
});

describe('the document', () => {
  it('is the report, as JSON', () => {
    expect(JSON.parse(renderJson(full))).toEqual(full);
  });
});
