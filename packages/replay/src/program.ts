/** The commands and options of `limiter`, and what each prints. */
import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import { DEMO_LIMITS, DEMO_LOG, renderDemo } from './demo.js';
import { type Screen, screen } from './layout.js';
import { parseLimitTexts } from './limit-text.js';
import { progressBar } from './progress.js';
import { renderJson } from './render-json.js';
import { chartColumns, renderText } from './render-text.js';
import { replay } from './replay.js';

/** A stream, and whether it is a terminal. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** Where a command reads its surroundings from and writes to. */
export interface Surroundings {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
}

interface ReplayFlags {
  readonly limit?: readonly string[];
  readonly json?: true;
  readonly worst: number;
  readonly reorder: number;
  readonly ipv6Prefix: number;
  readonly maxKeys: number;
  readonly color?: boolean;
}

const GRAMMAR = `
A limit is one line:
  [NAME:] AMOUNT/TIME ALGORITHM [capacity N] [by AXIS, AXIS]
          [align GRID] [offset TIME] [shadow]

  TIME       a whole number of ms, s, m, h or d: 500ms, 60s, 1h
  ALGORITHM  fixed-window, sliding-window-log or token-bucket
  capacity   of a token bucket; AMOUNT unless given
  by         ip (default), path, method, user, status-class or agent;
             several as in "by ip, path"; everybody together: "by *"
  align      of a fixed window: clock (default) or first-request
  offset     shifts the grid of the clock
  shadow     count what it would refuse, but do not enforce it

Examples:
  limiter replay access.log --limit '20/60s sliding-window-log by ip'
  limiter replay access.log.1.gz access.log --json \\
      --limit 'burst: 10/1s token-bucket capacity 40' \\
      --limit 'login: 5/1m fixed-window by ip, path shadow'
  zstd -dc access.log.zst | limiter replay - --limit '1_000/1h fixed-window by *'

Exit codes: 0 done, 1 bad input (a limit, a log), 2 bad usage.`;

export function program({ stdout, stderr, env }: Surroundings): Command {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  const screenOf = (color: boolean | undefined): Screen =>
    screen(widthOf(stdout, env), color ?? wantsColor(stdout, env));

  const limiter = new Command('limiter')
    .description('Try rate limits on real traffic before they meet it.')
    .version(version)
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) });

  limiter
    .command('replay')
    .description(
      'replay access logs (Apache and nginx, common or combined, plain or gzip; "-" is standard input) against limits',
    )
    .argument('<log...>', 'log files; several are merged by time')
    .option('-l, --limit <limit>', "a limit, as in '20/60s sliding-window-log by ip'; repeat it for several", collect)
    .option('--json', 'print one JSON document')
    .option('--worst <n>', 'how many of the worst clients to show', wholeNumber(0, 1_000), 5)
    .option(
      '--reorder <seconds>',
      'put lines in order that are this far behind a newer one',
      wholeNumber(0, 86_400),
      60,
    )
    .option('--ipv6-prefix <bits>', 'count an IPv6 network of this size as one client', wholeNumber(1, 128), 128)
    .option('--max-keys <n>', 'how many ledgers to hold at once', wholeNumber(1, 8_000_000), 1_000_000)
    .option('--color', 'use colours even if this is no terminal')
    .option('--no-color', 'use no colours')
    .addHelpText('after', GRAMMAR)
    .action(async (logs: string[], flags: ReplayFlags, command: Command) => {
      if (logs.filter((log) => log === '-').length > 1)
        command.error('error: standard input ("-") can be read only once');
      if (!flags.limit)
        return command.error(`error: say at least one limit, as in --limit '20/60s sliding-window-log by ip'`);
      const limits = parseLimitTexts(flags.limit);
      const drawing = screenOf(flags.color);
      const bar = progressBar(stderr);
      const columns = flags.json ? 60 : chartColumns(drawing.width);
      const { worst, maxKeys, ipv6Prefix, reorder } = flags;
      const options = { logs, limits, worst, columns, maxKeys, ipv6Prefix, reorderMs: reorder * 1_000 };
      const report = await replay({ ...options, onProgress: bar.update }).finally(bar.stop);
      stdout.write(flags.json ? renderJson(report) : renderText(report, drawing));
    });

  limiter
    .command('demo')
    .description('replay a real log that comes with this command, two weeks of a small web site')
    .option('--color', 'use colours even if this is no terminal')
    .option('--no-color', 'use no colours')
    .action(async ({ color }: { readonly color?: boolean }) => {
      const drawing = screenOf(color);
      const limits = parseLimitTexts(DEMO_LIMITS);
      const report = await replay({ logs: [DEMO_LOG], limits, worst: 3, columns: chartColumns(drawing.width) });
      stdout.write(renderDemo(report, drawing));
    });
  return limiter;
}

const collect = (text: string, before: readonly string[] = []): readonly string[] => [...before, text];

function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

/** A terminal's width, that of COLUMNS, or 100; never so narrow that nothing fits. */
function widthOf({ columns }: Output, env: Surroundings['env']): number {
  const given = columns ?? Number(env['COLUMNS'] ?? Number.NaN);
  return Math.max(60, given > 0 ? given : 100);
}

/** https://no-color.org and https://force-color.org */
function wantsColor(stdout: Output, env: Surroundings['env']): boolean {
  if (env['NO_COLOR']) return false;
  if (env['FORCE_COLOR'] && env['FORCE_COLOR'] !== '0') return true;
  return stdout.isTTY === true && env['TERM'] !== 'dumb';
}
