/** `limiter demo`: a real log, several limits, and a few lines on what there is to see. */
import { fileURLToPath } from 'node:url';
import { type Screen, wrap } from './layout.js';
import { renderText } from './render-text.js';
import type { LimitReport, ReplayReport } from './report.js';
import { number } from './words.js';

/** 10,000 requests to a WordPress site in April 2025; addresses, paths and agents are stand-ins. */
export const DEMO_LOG: string = fileURLToPath(new URL('../fixtures/wordpress-2025.access.log.gz', import.meta.url));

/** The same numbers in three algorithms, and a ceiling for the whole site that is only watched. */
export const DEMO_LIMITS: readonly string[] = [
  '20/60s fixed-window by ip',
  '20/60s sliding-window-log by ip',
  '20/60s token-bucket by ip',
  'site: 30/60s fixed-window by * shadow',
];

/** The report, what it shows, and what to try next. Every figure is taken from the report. */
export function renderDemo(report: ReplayReport, screen: Screen): string {
  const [fixed, log, bucket, site] = report.limits as [LimitReport, LimitReport, LimitReport, LimitReport];
  const { colors } = screen;
  const alone = ({ alone: { refused } }: LimitReport): string => `${number(refused)} refused`;
  const seen = [
    `"20 in 60 seconds" is three different promises. Alone, the sliding log holds it in any 60 seconds: ${alone(log)}. The fixed window starts anew with each minute of the clock, so twice as much can pass around it: ${alone(fixed)}. The bucket hands one back every 3 seconds, so a steady client is slowed, not stopped: ${alone(bucket)}.`,
    `Together they are one question. What one of them refuses is charged to none of them, so the fixed window has to refuse only ${number(fixed.together.refused)} there and the bucket ${number(bucket.together.refused)}.`,
    `The limit for the whole site is in shadow: it would have refused ${number(site.together.refused)}, of ${number(site.together.clients.count)} clients, and refused nobody. So a limit can be watched on a live site before it is enforced.`,
  ];
  const next = [
    "limiter replay access.log --limit '20/60s sliding-window-log by ip'",
    "limiter replay access.log --limit 'burst: 20/60s token-bucket capacity 40'",
    "limiter replay access.log --limit '300/5m fixed-window by ip' --json",
  ];
  return [
    renderText(report, screen),
    colors.bold('What there is to see'),
    ...seen.map((text) => `- ${wrap(text, screen, 2)}`),
    '',
    `${colors.bold('Try next')} ${colors.dim('with a log of your own')}`,
    ...next.map((command) => `  ${colors.cyan(command)}`),
    colors.dim('  limiter replay --help has all that a limit can say'),
    '',
  ].join('\n');
}
