import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { main } from '../src/main.js';
import type { ReplayReport } from '../src/report.js';
import { combined, fixture } from './log-fixtures.js';

const CLI = fileURLToPath(new URL('../src/cli.ts', import.meta.url));
const NODE = ['--conditions=@limiter/source', '--import', 'tsx', CLI];
const WORDPRESS = fixture('wordpress-2025.access.log.gz');
const LIMIT = '20/60s sliding-window-log by ip';

const folder = mkdtempSync(join(tmpdir(), 'limiter-replay-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The command in a process of its own. */
function spawned(args: readonly string[], input = '') {
  const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: '', COLUMNS: '100' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [...NODE, ...args], { encoding: 'utf8', input, env });
  return { status, stdout, stderr };
}

/** The same in this process, which is ten times faster. */
async function limiter(
  args: readonly string[],
  terminal: { env?: Record<string, string>; isTTY?: boolean; columns?: number } = {},
) {
  let [stdout, stderr] = ['', ''];
  const { env = {}, ...shape } = terminal;
  const status = await main(args, {
    stdout: { ...shape, write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
    env,
  });
  return { status, stdout, stderr };
}

describe('the command, as a process', () => {
  it('replays a log and prints the report, nothing on standard error', () => {
    const { status, stdout, stderr } = spawned(['replay', WORDPRESS, '--limit', LIMIT]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('10,000 requests of 1,433 clients in 15 days 11 hours');
    expect(stdout).toContain('9,595 allowed, 405 refused (4.05%), 20 clients');
  });

  it('reads standard input', () => {
    const { status, stdout } = spawned(
      ['replay', '-', '--limit', '1/1s fixed-window'],
      `${combined(0)}\n${combined(0)}\n`,
    );
    expect(status).toBe(0);
    expect(stdout).toContain('standard input');
    expect(stdout).toContain('1 allowed, 1 refused (50.0%), 1 client (100%)');
  });

  it('is quiet when its reader has seen enough (| head)', async () => {
    const args = [...NODE, 'replay', WORDPRESS, '--limit', LIMIT, '--json', '--worst', '1000'];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text;
    });
    const status = await new Promise((resolve) => child.on('close', resolve));
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('exits with 1 for bad input and with 2 for bad usage, each with one message and no stack trace', () => {
    expect(spawned(['replay', '/no/such.log', '--limit', LIMIT])).toEqual({
      status: 1,
      stdout: '',
      stderr: 'ERR_LIMITER_LOG: cannot read "/no/such.log": there is no such file\n',
    });
    expect(spawned(['replay', WORDPRESS, '--limt', LIMIT])).toEqual({
      status: 2,
      stdout: '',
      stderr: "error: unknown option '--limt'\n(Did you mean --limit?)\n",
    });
  });
});

describe('the command', () => {
  it('prints one JSON document where asked', async () => {
    const site = 'all: 1_000/1m fixed-window by * shadow';
    const { status, stdout } = await limiter(['replay', WORDPRESS, '-l', LIMIT, '-l', site, '--json', '--worst', '1']);
    const report = JSON.parse(stdout) as ReplayReport;
    expect(status).toBe(0);
    expect(report.limits).toMatchObject([
      { name: 'sliding-window-log', limit: LIMIT, algorithm: 'sliding-window-log', by: ['ip'], mode: 'enforce' },
      { name: 'all', limit: '1000/1m fixed-window by * shadow', algorithm: 'fixed-window', by: [], mode: 'shadow' },
    ]);
    expect(report.limits[0]?.alone).toMatchObject({ refused: 405, clients: { count: 20, exact: true } });
    expect(report.limits[0]?.together.worst).toHaveLength(1);
  });

  it('shows the demo, and draws its lessons from the figures', async () => {
    const { status, stdout } = await limiter(['demo'], { columns: 1_000 });
    expect(status).toBe(0);
    expect(stdout).toContain('10,000 requests of 1,433 clients');
    for (const lesson of [
      'any 60 seconds: 405 refused',
      'around it: 326 refused',
      'not stopped: 281 refused',
      'refuse only 161 there and the bucket 39',
    ]) {
      expect(stdout).toContain(lesson);
    }
  });

  it.each([
    ['at a terminal', [], { isTTY: true }, true],
    ['in a pipe', [], {}, false],
    ['in a pipe with --color', ['--color'], {}, true],
    ['at a terminal with --no-color', ['--no-color'], { isTTY: true }, false],
    ['at a terminal with NO_COLOR', [], { isTTY: true, env: { NO_COLOR: '1' } }, false],
    ['in a pipe with FORCE_COLOR', [], { env: { FORCE_COLOR: '1' } }, true],
    ['at a dumb terminal', [], { isTTY: true, env: { TERM: 'dumb' } }, false],
  ])('%s: %j %j colours %s', async (_where, args, terminal, colours) => {
    const { stdout } = await limiter(
      ['replay', fixture('formats/morgan-combined.access.log'), '-l', LIMIT, ...args],
      terminal,
    );
    expect(stdout.includes('\u001b[')).toBe(colours);
  });

  it.each([
    [{ columns: 80 }, 80],
    [{ env: { COLUMNS: '120' } }, 120],
    [{ columns: 20 }, 60],
    [{}, 100],
  ])('fits what it prints into %j', async (terminal, width) => {
    const { stdout } = await limiter(
      ['replay', WORDPRESS, '-l', LIMIT, '-l', '100/1h token-bucket by ip, path'],
      terminal,
    );
    expect(Math.max(...stdout.split('\n').map((line) => [...line].length))).toBeLessThanOrEqual(width);
  });
});

describe('exit codes', () => {
  it.each([
    ['help', ['--help'], 0],
    ['the help of replay', ['replay', '--help'], 0],
    ['the version', ['--version'], 0],
  ])('0 for %s, on standard output', async (_what, args, code) => {
    const { status, stdout, stderr } = await limiter(args);
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
  ])('1 for %s, with code, value and rule', async (_what, args, message) => {
    const { status, stdout, stderr } = await limiter(args);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(message);
  });

  it.each([
    ['no command', [], 'Usage: limiter'],
    ['no log', ['replay', '--limit', LIMIT], "missing required argument 'log'"],
    ['no limit', ['replay', WORDPRESS], "say at least one limit, as in --limit '20/60s sliding-window-log by ip'"],
    ['an unknown option', ['replay', WORDPRESS, '--limt', LIMIT], 'Did you mean --limit?'],
    ['an unknown command', ['reply', WORDPRESS], 'Did you mean replay?'],
    [
      'a number that is none',
      ['replay', WORDPRESS, '-l', LIMIT, '--worst', 'many'],
      'It must be a whole number from 0 to 1000.',
    ],
    ['standard input twice', ['replay', '-', '-', '-l', LIMIT], 'standard input ("-") can be read only once'],
  ])('2 for %s', async (_what, args, message) => {
    const { status, stdout, stderr } = await limiter(args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it('0 for an empty log', async () => {
    writeFileSync(join(folder, 'empty.log'), '');
    const { status, stdout } = await limiter(['replay', join(folder, 'empty.log'), '-l', LIMIT]);
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'No requests in 0 lines of empty.log\n' });
  });
});
