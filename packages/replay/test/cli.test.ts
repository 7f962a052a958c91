import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import type { ReplayReport } from '../src/report.js';
import { combined, fixture } from './log-fixtures.js';

const CLI = fileURLToPath(new URL('../src/cli.ts', import.meta.url));
const NODE = ['--conditions=@limiter/source', '--import', 'tsx', CLI];
const WORDPRESS = fixture('wordpress-2025.access.log.gz');
const LIMIT = '20/60s sliding-window-log by ip';

const folder = mkdtempSync(join(tmpdir(), 'limiter-replay-'));
afterAll(() => rmSync(folder, { recursive: true }));

function limiter(args: readonly string[], options: { input?: string; env?: Record<string, string> } = {}) {
  const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: '', COLUMNS: '100', ...options.env };
  const { status, stdout, stderr } = spawnSync(process.execPath, [...NODE, ...args], {
    encoding: 'utf8',
    input: options.input ?? '',
    env,
  });
  return { status, stdout, stderr };
}

describe('the command', () => {
  it('replays a log and prints the report, nothing on standard error', () => {
    const { status, stdout, stderr } = limiter(['replay', WORDPRESS, '--limit', LIMIT]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('10,000 requests of 1,433 clients in 15 days 11 hours');
    expect(stdout).toContain('9,595 allowed, 405 refused (4.05%), 20 clients');
  });

  it('prints one JSON document where asked', () => {
    const { status, stdout } = limiter([
      'replay',
      WORDPRESS,
      '-l',
      LIMIT,
      '-l',
      'all: 1_000/1m fixed-window by * shadow',
      '--json',
      '--worst',
      '1',
    ]);
    const report = JSON.parse(stdout) as ReplayReport;
    expect(status).toBe(0);
    expect(report.limits.map(({ name, mode }) => [name, mode])).toEqual([
      ['sliding-window-log', 'enforce'],
      ['all', 'shadow'],
    ]);
    expect(report.limits[0]?.alone).toMatchObject({ refused: 405, clients: { count: 20, exact: true } });
    expect(report.limits[0]?.together.worst).toHaveLength(1);
  });

  it('reads standard input', () => {
    const { status, stdout } = limiter(['replay', '-', '--limit', '1/1s fixed-window'], {
      input: `${combined(0)}\n${combined(0)}\n`,
    });
    expect(status).toBe(0);
    expect(stdout).toContain('standard input');
    expect(stdout).toContain('1 allowed, 1 refused (50.0%), 1 client (100%)');
  });

  it('shows the demo', () => {
    const { status, stdout } = limiter(['demo']);
    expect(status).toBe(0);
    expect(stdout).toContain('10,000 requests of 1,433 clients');
  });

  it('is quiet when its reader has seen enough (| head)', async () => {
    const child = spawn(
      process.execPath,
      [...NODE, 'replay', WORDPRESS, '--limit', LIMIT, '--json', '--worst', '1000'],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    child.stdout.destroy();
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
    const status = await new Promise((resolve) => child.on('close', resolve));
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('uses colours where asked, and none where not', () => {
    expect(limiter(['replay', WORDPRESS, '-l', LIMIT, '--color']).stdout).toContain('\u001b[');
    expect(limiter(['replay', WORDPRESS, '-l', LIMIT], { env: { NO_COLOR: '', FORCE_COLOR: '1' } }).stdout).toContain(
      '\u001b[',
    );
    expect(
      limiter(['replay', WORDPRESS, '-l', LIMIT, '--no-color'], { env: { NO_COLOR: '', FORCE_COLOR: '1' } }).stdout,
    ).not.toContain('\u001b[');
  });
});

describe('exit codes', () => {
  it.each([
    ['help', ['--help'], 0],
    ['the help of replay', ['replay', '--help'], 0],
    ['the version', ['--version'], 0],
  ])('0 for %s, on standard output', (_what, args, code) => {
    const { status, stdout, stderr } = limiter(args);
    expect({ status, stderr }).toEqual({ status: code, stderr: '' });
    expect(stdout).not.toBe('');
  });

  it.each([
    [
      'a limit that nobody can read',
      ['replay', WORDPRESS, '--limit', '20/60s sliding'],
      /^ERR_LIMITER_LIMIT_TEXT: "20\/60s sliding": the algorithm is one of .*, got "sliding"\n$/,
    ],
    [
      'a limit that the core refuses',
      ['replay', WORDPRESS, '--limit', '9007199254740991/1h token-bucket'],
      /^ERR_LIMITER_LIMIT_TEXT: "9007199254740991\/1h token-bucket by ip": capacity .* at most 2\^53-1, got .*\n$/,
    ],
    [
      'a name that is taken',
      ['replay', WORDPRESS, '-l', 'a: 1/1s fixed-window', '-l', 'a: 1/1m fixed-window'],
      /^ERR_LIMITER_LIMIT_TEXT: "a: 1\/1m fixed-window": another limit has this name\n$/,
    ],
    [
      'a missing file, before anything is read',
      ['replay', WORDPRESS, '/no/such.log', '--limit', LIMIT],
      /^ERR_LIMITER_LOG: cannot read "\/no\/such.log": there is no such file\n$/,
    ],
    [
      'a log without a request',
      ['replay', fixture('formats/caddy.ndjson'), '--limit', LIMIT],
      /^ERR_LIMITER_NO_REQUESTS: none of 5 lines is a request .*: 5 x JSON, .* \(first: ".*caddy.ndjson" line 1\)\n$/,
    ],
  ])('1 for %s, with code, value and rule', (_what, args, message) => {
    const { status, stdout, stderr } = limiter(args);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(message);
  });

  it.each([
    ['no command', [], 'Usage: limiter'],
    ['no log', ['replay', '--limit', LIMIT], "missing required argument 'log'"],
    ['no limit', ['replay', WORDPRESS], "required option '-l, --limit <limit>' not specified"],
    ['an unknown option', ['replay', WORDPRESS, '--limt', LIMIT], 'Did you mean --limit?'],
    ['an unknown command', ['reply', WORDPRESS], 'Did you mean replay?'],
    [
      'a number that is none',
      ['replay', WORDPRESS, '-l', LIMIT, '--worst', 'many'],
      'It must be a whole number from 0 to 1000.',
    ],
    ['standard input twice', ['replay', '-', '-', '-l', LIMIT], 'standard input ("-") can be read only once'],
  ])('2 for %s', (_what, args, message) => {
    const { status, stdout, stderr } = limiter(args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it('0 for an empty log', () => {
    writeFileSync(join(folder, 'empty.log'), '');
    const { status, stdout } = limiter(['replay', join(folder, 'empty.log'), '-l', LIMIT]);
    expect(status).toBe(0);
    expect(stdout).toContain('No requests in 0 lines');
  });
});
