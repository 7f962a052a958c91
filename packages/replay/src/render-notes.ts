/** What a reader should know before believing the figures: lines that were not read or not in order, and worse. */
import { type Screen, table, wrap } from './layout.js';
import { where } from './render-limit.js';
import type { LinesOfOneKind, ReplayReport } from './report.js';
import { number, ODDITIES, percent, plural, REASONS } from './words.js';

export function renderNotes(report: ReplayReport, screen: Screen): string {
  const { colors } = screen;
  const { lines, clients, evictedLiveKeys, limits } = report;
  const notes: string[] = [];
  const warn = (text: string): void => {
    notes.push(`${colors.yellow('!')} ${wrap(text, screen, 2)}`);
  };

  if (evictedLiveKeys > 0) {
    warn(
      `${plural(evictedLiveKeys, 'ledger')} had to be forgotten while still in use: the figures are too low. Give --max-keys a larger number.`,
    );
  }
  if (lines.stepsBack) {
    const { lines: steps, example } = lines.stepsBack;
    const times = steps === 1 ? 'once' : `${number(steps)} times`;
    warn(
      `Time steps back ${times}, first at ${where(example, report)}: by more than --reorder puts in order. The limits take it as a clock set back. If logs were joined, name them one by one instead.`,
    );
  }
  if (lines.requests > 0 && clients.internalRequests / lines.requests >= 0.5) {
    warn(
      `${percent(clients.internalRequests / lines.requests)} of the requests come from internal addresses. If a proxy stands in front, its address is logged and a limit by ip counts all of its clients as one.`,
    );
  }
  for (const { name, judged } of limits) {
    if (lines.requests > 0 && judged === 0)
      warn(`The limit ${name} was never asked: the log does not have what it is by.`);
  }
  const kinds = <K extends string>(
    title: string,
    found: readonly LinesOfOneKind<K>[],
    words: Readonly<Record<K, string>>,
  ): void => {
    if (found.length === 0) return;
    const rows = found.map(({ reason, lines, example }) => [
      number(lines),
      words[reason],
      colors.dim(`first: ${where(example, report)}`),
    ]);
    notes.push(
      `${title}\n${table([{ head: '', align: 'right' }, { head: '', wraps: true }, { head: '' }], rows, screen)}`,
    );
  };
  const unread = lines.unreadable.reduce((sum, { lines }) => sum + lines, 0);
  kinds(
    `${colors.yellow(plural(unread, 'line'))} of ${number(lines.read)} could not be read`,
    lines.unreadable,
    REASONS,
  );
  const odd = lines.odd.reduce((sum, { lines }) => sum + lines, 0);
  kinds(`${plural(odd, 'odd request')}, judged like any other`, lines.odd, ODDITIES);
  if (lines.sorted > 0)
    notes.push(
      `${plural(lines.sorted, 'line')} stood behind a newer one and ${lines.sorted === 1 ? 'was' : 'were'} put in order.`,
    );
  return notes.join('\n');
}
