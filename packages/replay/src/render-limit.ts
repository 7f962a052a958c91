/** One limit: whom it refuses, from when on, where the most was used, and who is hit hardest. */
import { basename } from 'node:path';
import { type Screen, shownLength, table, wrap } from './layout.js';
import { limitTitle } from './render-summary.js';
import type { LimitReport, Moment, Place, ReplayReport, WorstClient } from './report.js';
import { ending, figure, moment, number, percent, plural, safe, some } from './words.js';

/** The width of the words in front of the facts, indentation and gap included. */
const LABEL = 16;

export function renderLimit(limit: LimitReport, report: ReplayReport, screen: Screen): string {
  const { colors } = screen;
  const { together, mode, judged, skipped } = limit;
  const facts: string[][] = [];
  const fact = (label: string, ...lines: string[]): void => {
    for (const [index, line] of lines.entries()) facts.push([(index === 0 ? label : '').padEnd(LABEL - 4), line]);
  };
  /** What and when: beside each other where there is room. */
  const event = (label: string, what: string, place: Moment): void => {
    const when = `${moment(place.at, report.span?.offsetMinutes ?? 0)}, ${where(place, report)}`;
    const wide = LABEL + shownLength(what) + 3 + shownLength(when) <= screen.width;
    fact(label, ...(wide ? [`${what}   ${colors.dim(when)}`] : [what, colors.dim(when)]));
  };

  const verb = mode === 'shadow' ? 'would refuse' : 'refuses';
  if (together.refused === 0) fact(verb, `none of ${number(judged)} requests`);
  else {
    const whom = `${some(together.clients, 'client')} (${percent(together.clientShare)})`;
    fact(verb, `${number(together.refused)} of ${number(judged)} requests (${percent(together.share)}), ${whom}`);
    if (report.limits.length > 1 && mode === 'enforce') fact('', `${onlyThis(together)} by this limit only`);
  }
  if (skipped > 0) fact('skipped', `${plural(skipped, 'request')}: the log has no ${limit.by.join(' or ')} there`);
  if (together.first) event('first', requestOf(together.first), together.first);
  if (together.peak) {
    const { used, of, ledger } = together.peak;
    const whose = ledger.length === 0 ? '' : ` by ${ledger.map((value) => safe(value, 30)).join(' ')}`;
    event('peak', `${number(used)} of ${number(of)} used${whose}`, together.peak);
  }
  const parts = [
    wrap(colors.bold(limitTitle(limit)), screen),
    table([{ head: '' }, { head: '', wraps: true }], facts, screen),
  ];
  if (together.worst.length > 0) parts.push('', worstTable(together.worst, screen));
  return parts.join('\n');
}

function onlyThis({ refused, onlyThis }: LimitReport['together']): string {
  return `${onlyThis === 0 ? 'none' : onlyThis === refused ? 'all' : number(onlyThis)} of them`;
}

function worstTable(worst: readonly WorstClient[], screen: Screen): string {
  const cells = worst.map(({ client, refused, requests }) => [safe(client, 39), figure(refused), figure(requests)]);
  const widest = (index: number, head: string): number =>
    Math.max(head.length, ...cells.map((row) => (row[index] as string).length));
  const heads = ['worst clients', 'refused', 'requests'];
  const room = screen.width - heads.reduce((sum, head, index) => sum + widest(index, head) + 2, 2);
  const rows = worst.map(({ busiestPath, busiestPathRefused }, index) => {
    const times = ` (${number(busiestPathRefused)})`;
    const path =
      busiestPath === null ? screen.colors.dim('no path') : safe(busiestPath, Math.max(12, room - times.length));
    return [...(cells[index] as string[]), `${path}${screen.colors.dim(times)}`];
  });
  return table(
    [...heads, 'mostly at'].map((head, index) => ({ head, align: index === 1 || index === 2 ? 'right' : 'left' })),
    rows,
    screen,
  );
}

function requestOf({ client, method, path }: Moment): string {
  return `${safe(client, 39)} ${method === null ? '(no HTTP request)' : `${safe(method, 16)} ${safe(path ?? '', 60)}`}`;
}

/** The log is named where there are several: by its file, or where two files have one name, by the end of its path. */
export function where({ log, line }: Place, { logs }: ReplayReport): string {
  if (logs.length === 1) return `line ${number(line)}`;
  const files = new Set(logs.map(({ name }) => basename(name)));
  return `${ending(files.size === logs.length ? basename(log) : log, 30)} line ${number(line)}`;
}
