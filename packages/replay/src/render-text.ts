/** A report for people: what happened in all, when, what each limit did, and what could not be read. */
import type { Screen } from './layout.js';
import { renderChart } from './render-chart.js';
import { renderLimit } from './render-limit.js';
import { renderNotes } from './render-notes.js';
import { renderSummary } from './render-summary.js';
import type { ReplayReport } from './report.js';

/** Sections parted by an empty line; ends with a line break. */
export function renderText(report: ReplayReport, screen: Screen): string {
  const sections = [renderSummary(report, screen)];
  if (report.span) {
    sections.push(renderChart(report, screen));
    for (const limit of report.limits) sections.push(renderLimit(limit, report, screen));
  }
  const notes = renderNotes(report, screen);
  if (notes !== '') sections.push(notes);
  return `${sections.join('\n\n')}\n`;
}

/** How many columns of time the chart can show. */
export { chartColumns } from './render-chart.js';
