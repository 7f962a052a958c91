/** Figures in words. */
import type { Figure } from '../harness/result.js';

export function number(value: number): string {
  const size = Math.abs(value);
  if (Number.isInteger(value) || size >= 1_000) return Math.round(value).toLocaleString('en');
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

/** `2.31 (2.20 - 2.44)`; without the spread where there is one sample. */
export function spread({ median, low, high, rounds }: Figure, unit = ''): string {
  return rounds === 1 ? `${number(median)}${unit}` : `${number(median)}${unit} (${number(low)} - ${number(high)})`;
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, i) => (i === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n');
}
