/** The head of the report: the traffic, the verdict of all limits together, and a line for each limit. */
import { basename } from 'node:path';
import { type Column, type Screen, table, wrap } from './layout.js';
import type { LimitReport, Refusals, ReplayReport } from './report.js';
import { duration, figure, moment, number, percent, plural, safe, some, zone } from './words.js';

export function renderSummary(report: ReplayReport, screen: Screen): string {
  const { colors } = screen;
  const { lines, span, clients, logs, together, limits } = report;
  const name = logs.length === 1 ? shortName(logs[0]?.name ?? '') : plural(logs.length, 'log');
  if (!span) return `${colors.bold('No requests')} in ${plural(lines.read, 'line')} of ${name}`;

  const title = `${colors.bold(plural(lines.requests, 'request'))} of ${some(clients, 'client')} in ${duration(span.ms)}`;
  const when = `${moment(span.from, span.offsetMinutes)} to ${moment(span.to, span.offsetMinutes)} ${zone(span.offsetMinutes)}, ${name}`;
  const paragraphs = [
    wrap(title, screen),
    colors.dim(wrap(when, screen)),
    '',
    wrap(verdict(together, limits, screen), screen),
  ];
  return [...paragraphs, '', limitTable(limits, screen)].join('\n');
}

function shortName(log: string): string {
  if (log === '-') return 'standard input';
  return log.startsWith('/dev/fd/') ? 'a pipe' : safe(basename(log));
}

function verdict(together: ReplayReport['together'], limits: readonly LimitReport[], { colors }: Screen): string {
  const allowed = `${number(together.allowed)} allowed`;
  const refused = `${number(together.refused)} refused (${percent(together.share)})`;
  const whom = together.refused === 0 ? '' : `, ${some(together.clients, 'client')} (${percent(together.clientShare)})`;
  const who = limits.length === 1 ? 'This limit' : `These ${limits.length} limits together`;
  return `${who}: ${colors.green(allowed)}, ${together.refused === 0 ? refused : colors.red(refused)}${whom}`;
}

/** `together`: how often each limit says no as one of all; `alone`: if it were the only one. */
function limitTable(limits: readonly LimitReport[], screen: Screen): string {
  const { colors } = screen;
  const compared = limits.length > 1 || limits[0]?.mode === 'shadow';
  const right = (head: string): Column => ({ head, align: 'right' });
  const columns: Column[] = [
    { head: compared ? 'refused by' : 'limit', wraps: true },
    ...(compared ? ['together', 'clients', 'alone', 'clients'] : ['refused', 'clients']).map(right),
    right('peak'),
  ];
  const figures = ({ refused, clients }: Refusals, paint: (text: string) => string): string[] => [
    refused === 0 ? '0' : paint(number(refused)),
    figure(clients),
  ];
  const rows = limits.map((limit) => {
    const { mode, together, alone } = limit;
    const { peak } = together;
    return [
      limitTitle(limit),
      ...figures(together, mode === 'shadow' ? colors.yellow : colors.red),
      ...(compared ? figures(alone, (text) => text) : []),
      peak ? `${number(peak.used)}/${number(peak.of)}` : '-',
    ];
  });
  return table(columns, rows, screen);
}

/** The limit as the user wrote it; the name in front where the user gave one. */
export function limitTitle({ name, limit, algorithm }: LimitReport): string {
  return name.startsWith(algorithm) ? limit : `${name}: ${limit}`;
}
