/** A report for programs: one JSON document. Its fields are described in report.ts; `format` says when they change. */
import type { ReplayReport } from './report.js';

export function renderJson(report: ReplayReport): string {
  return `${JSON.stringify(report, null, 2)}\n`;
}
