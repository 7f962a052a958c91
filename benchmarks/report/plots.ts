/** Drawings of results as SVG, without a browser: bars for rivals, lines for growth. */
import { parse, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import { type Entry, figure, type Result } from '../harness/result.js';

const COLORS = { ours: '#0b6e4f', peer: '#8a8f98', floor: '#d9a441', info: '#c9ccd1' } as const;
const LABELS = { ours: 'ours', peer: 'peer', floor: 'by hand', info: 'for comparison' } as const;

function bars({ title, unit, entries }: Result): TopLevelSpec {
  const values = entries.map(({ name, role, samples }) => ({ name, role: LABELS[role], ...figure(samples) }));
  const roles = [...new Set(entries.map(({ role }) => role))];
  const medians = values.map(({ median }) => median).filter((one) => one > 0);
  const wide = Math.max(...medians) / Math.min(...medians) > 30 && medians.length === values.length;
  const x = { field: 'median', type: 'quantitative', title: `${unit}${wide ? ' (logarithmic)' : ''}` } as const;
  const scale = wide ? ({ type: 'log', domainMin: Math.min(...medians) / 2 } as const) : { zero: true };
  const y = { field: 'name', type: 'nominal', title: null, sort: null, axis: { labelLimit: 320 } } as const;
  const color = {
    field: 'role',
    type: 'nominal',
    title: null,
    scale: { domain: roles.map((role) => LABELS[role]), range: roles.map((role) => COLORS[role]) },
  } as const;
  return {
    title,
    width: 460,
    height: { step: 22 },
    data: { values },
    layer: [
      { mark: { type: 'bar', ...(wide ? { x2: 0 } : {}) }, encoding: { x: { ...x, scale }, y, color } },
      {
        mark: { type: 'rule', color: '#222' },
        encoding: { x: { field: 'low', type: 'quantitative', scale }, x2: { field: 'high' }, y },
      },
    ],
  } as TopLevelSpec;
}

function lines({ title, unit, entries, axis }: Result): TopLevelSpec {
  const values = entries.map(({ name, x, samples }) => ({ name, x, ...figure(samples) }));
  const sizes = values.map(({ x }) => x ?? 1);
  const wide = Math.max(...sizes) / Math.min(...sizes) >= 100;
  const tall = Math.max(...values.map(({ median }) => median)) / Math.min(...values.map(({ median }) => median)) > 20;
  return {
    title,
    width: 460,
    height: 240,
    data: { values },
    encoding: {
      x: {
        field: 'x',
        type: 'quantitative',
        title: axis ?? 'size',
        scale: wide ? { type: 'log' } : { zero: false },
        axis: wide ? { format: '~s' } : { tickMinStep: 1 },
      },
      y: { field: 'median', type: 'quantitative', title: unit, scale: tall ? { type: 'symlog' } : { zero: true } },
      color: { field: 'name', type: 'nominal', title: null, legend: { labelLimit: 320 } },
    },
    mark: { type: 'line', point: true },
  } as TopLevelSpec;
}

const grows = (entries: readonly Entry[]): boolean => entries.some(({ x }) => x !== undefined);

/** @returns the text of an SVG file. */
export async function draw(result: Result): Promise<string> {
  const spec = grows(result.entries) ? lines(result) : bars(result);
  const config = { background: 'white', font: 'sans-serif' };
  const view = new View(parse(compile({ ...spec, config } as TopLevelSpec).spec), { renderer: 'none' });
  return `${await view.toSVG()}\n`;
}
