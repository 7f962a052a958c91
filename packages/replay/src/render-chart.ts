/** When requests came and when they were refused, as rows of bars over one axis of time. */
import { type Screen, wrap } from './layout.js';
import type { ReplayReport } from './report.js';
import { sparkline } from './sparkline.js';
import { duration, moment, number, safe } from './words.js';

const LABEL = 22;
const MOST = 12;

/** What is left of the width between the label and the largest count. */
export const chartColumns = (width: number): number => Math.max(10, Math.min(width, 140) - 2 - LABEL - MOST);

export function renderChart(report: ReplayReport, screen: Screen): string {
  const { colors } = screen;
  const { requestsOverTime, together, limits, span } = report;
  if (!span) return '';
  const row = (label: string, counts: readonly number[], paint: (text: string) => string): string => {
    const most = Math.max(0, ...counts);
    return `  ${safe(label, LABEL - 2).padEnd(LABEL)}${paint(sparkline(counts))}  ${colors.dim(most === 0 ? 'none' : `max ${number(most)}`)}`;
  };
  const bars = requestsOverTime.counts.length;
  const from = moment(span.from, span.offsetMinutes);
  const to = moment(span.to, span.offsetMinutes);
  // Days are enough where a bar is longer than an hour.
  const cut = requestsOverTime.columnMs >= 3_600_000 ? 10 : 19;
  const axis = bars >= cut * 2 + 2 ? from.slice(0, cut).padEnd(bars - cut) + to.slice(0, cut) : from.slice(0, cut);
  return [
    wrap(
      `${colors.bold('When')} ${colors.dim(`(a bar is ${duration(requestsOverTime.columnMs)}; each row has its own height)`)}`,
      screen,
    ),
    row('requests', requestsOverTime.counts, colors.cyan),
    ...(limits.length > 1 ? [row('refused', together.overTime.counts, colors.red)] : []),
    ...limits.map(({ name, mode, together: { overTime } }) =>
      row(limits.length > 1 ? `  ${name}` : 'refused', overTime.counts, mode === 'shadow' ? colors.yellow : colors.red),
    ),
    `  ${' '.repeat(LABEL)}${colors.dim(axis)}`,
  ].join('\n');
}
