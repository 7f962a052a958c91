/** Numbers, times and foreign text as a reader wants them. */

import type { Unreadable } from './parse-line.js';
import type { Total } from './report.js';
import type { Oddity } from './request-line.js';

/** @example number(1234567) // '1,234,567' */
export const number = (value: number): string => value.toLocaleString('en-US');

/** @example figure({ count: 500000, exact: false }) // '≥ 500,000' */
export const figure = ({ count, exact }: Total): string => (exact ? number(count) : `≥ ${number(count)}`);

/** @example plural(1, 'client') // '1 client' */
export const plural = (value: number, noun: string): string => `${number(value)} ${noun}${value === 1 ? '' : 's'}`;

/** One digit that says something: a share that is not 0 never reads as 0 %, one that is not all never as 100 %. */
export function percent(share: number): string {
  if (share === 0 || share === 1) return `${share * 100}%`;
  const value = share * 100;
  if (value < 0.01) return '< 0.01%';
  return `${value < 10 ? value.toFixed(2) : Math.min(value, 99.9).toFixed(1)}%`;
}

/** @example some({ count: 500000, exact: false }, 'client') // 'at least 500,000 clients' */
export const some = ({ count, exact }: Total, noun: string): string =>
  exact ? plural(count, noun) : `at least ${plural(count, noun)}`;

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

/** The two largest units, rounded down. @example duration(5_400_000) // '1 hour 30 minutes' */
export function duration(ms: number): string {
  const first = UNITS.findIndex(([, unit]) => ms >= unit);
  if (first === -1) return ms === 0 ? 'one instant' : `${number(ms)} ms`;
  let rest = ms;
  const parts: string[] = [];
  for (const [noun, unit] of UNITS.slice(first, first + 2)) {
    const whole = Math.floor(rest / unit);
    rest -= whole * unit;
    if (whole > 0) parts.push(plural(whole, noun));
  }
  return parts.join(' ');
}

/** `2025-04-17 04:10:56` in the zone of the log. */
export function moment(iso: string, offsetMinutes: number): string {
  const local = new Date(Date.parse(iso) + offsetMinutes * 60_000).toISOString();
  return `${local.slice(0, 10)} ${local.slice(11, 19)}`;
}

/** `+0200`, as the log writes it. */
export function zone(offsetMinutes: number): string {
  const minutes = Math.abs(offsetMinutes);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${offsetMinutes < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${two(minutes % 60)}`;
}

// Control characters, and marks that change the direction of the text: a log is written by whoever sends requests, and
// must not write to the terminal of whoever reads it.
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Foreign text for a terminal: at most `width` characters, unsafe ones as `\u{1b}`. */
export function safe(text: string, width: number = 200): string {
  const shown = text.replace(UNSAFE, (char) => `\\u{${(char.codePointAt(0) as number).toString(16)}}`);
  const characters = [...shown];
  return characters.length <= width ? shown : `${characters.slice(0, width - 1).join('')}…`;
}

/** The end of a name, which tells more than its beginning. @example ending('/var/log/nginx/access.log', 12) // '…/access.log' */
export function ending(name: string, width: number): string {
  const shown = [...safe(name, Number.POSITIVE_INFINITY)];
  return shown.length <= width ? shown.join('') : `…${shown.slice(1 - width).join('')}`;
}

export const REASONS: Readonly<Record<Unreadable, string>> = {
  json: 'JSON, not the common or combined format',
  syslog: 'a syslog line of another format',
  directive: 'a comment or directive (begins with #)',
  'no-time': 'no time in brackets',
  'bad-time': 'a time in brackets that is none, or has no zone',
  'no-client': 'no client address',
  'no-request': 'no quoted request after the time',
  'cut-off': 'cut off in the middle',
  'no-status': 'no status after the request',
};

export const ODDITIES: Readonly<Record<Oddity, string>> = {
  nothing: 'no request line was sent',
  malformed: 'no HTTP request line (TLS or other bytes, a space in the path, one word)',
};
