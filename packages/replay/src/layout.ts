/** Columns of text on a terminal: alignment, wrapping and colours, and nothing about limits. */
import { stripVTControlCharacters } from 'node:util';
import Table from 'cli-table3';
import pc from 'picocolors';

export type Colors = ReturnType<typeof pc.createColors>;

/** What there is to draw on. */
export interface Screen {
  readonly width: number;
  readonly colors: Colors;
}

export const screen = (width: number, colorful: boolean): Screen => ({ width, colors: pc.createColors(colorful) });

const NO_LINES = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '',
};

const INDENT = 2;
const GAP = 2;

export interface Column {
  readonly head: string;
  readonly align?: 'left' | 'right';
  /** The one column that gives way: it takes what the others leave, and a longer text is wrapped. */
  readonly wraps?: true;
}

/** Characters on the screen: colours take none. */
export const shownLength = (text: string): number => [...stripVTControlCharacters(text)].length;

/** Rows under dim heads, indented by two, each column as wide as what stands in it. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { width, colors }: Screen,
): string {
  const needed = columns.map(
    ({ head }, index) => Math.max(...[head, ...rows.map((row) => row[index] ?? '')].map(shownLength)) + GAP,
  );
  const others = columns.reduce((sum, { wraps }, index) => sum + (wraps ? 0 : (needed[index] as number)), 0);
  const left = Math.max(16, width + GAP - INDENT - others);
  const drawn = new Table({
    chars: NO_LINES,
    head: columns.some(({ head }) => head !== '') ? columns.map(({ head }) => colors.dim(head)) : [],
    colAligns: columns.map(({ align }) => align ?? 'left'),
    colWidths: columns.map(({ wraps }, index) =>
      wraps ? Math.min(left, needed[index] as number) : (needed[index] as number),
    ),
    wordWrap: true,
    wrapOnWordBoundary: true,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': GAP, compact: true },
  });
  drawn.push(...rows.map((row) => [...row]));
  return indent(drawn.toString());
}

/** Prose, wrapped at words; further lines are indented as far as `by`. */
export function wrap(text: string, { width }: Screen, by: number = 0): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && shownLength(line) + 1 + shownLength(word) > width - by) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].join(`\n${' '.repeat(by)}`);
}

export function indent(text: string, by: number = INDENT): string {
  return text
    .split('\n')
    .map((line) => `${' '.repeat(by)}${line}`.trimEnd())
    .join('\n');
}
