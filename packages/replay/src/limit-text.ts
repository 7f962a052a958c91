/**
 * A limit as one readable line, the argument of `--limit`:
 *
 *     [NAME:] AMOUNT/TIME ALGORITHM [capacity N] [by AXIS, AXIS] [align GRID] [offset TIME] [shadow]
 *
 *     20/60s sliding-window-log by ip              20 requests in any 60 seconds, for each address
 *     burst: 20/60s token-bucket capacity 40       40 at once, 20 more every 60 seconds
 *     site: 10_000/1h fixed-window by * shadow     everybody together; only reported, never enforced
 *
 * What follows the algorithm may stand in any order, each word once. Without `by` it is `by ip`.
 */
import type { AlgorithmName, Duration } from '@limiter/core';
import { AXES, type Axis } from './axes.js';
import { quoted, ReplayError } from './errors.js';

/** A limit that was read but not yet judged by the core: its numbers may still be out of range there. */
export interface LimitSpec {
  /** Given, or the algorithm's name (`-2`, `-3` for further ones). */
  readonly name: string;
  readonly algorithm: AlgorithmName;
  readonly amount: number;
  /** The window, or for a bucket the time in which `amount` tokens are refilled. */
  readonly per: Duration;
  /** Token bucket only; `amount` if not given. */
  readonly capacity: number;
  /** Empty for `by *`: one ledger for everybody. */
  readonly axes: readonly Axis[];
  readonly align: 'clock' | 'first-request';
  readonly offset: Duration | undefined;
  readonly shadow: boolean;
  /** The limit in this grammar, without the name and in one fixed order. */
  readonly text: string;
}

const ALGORITHMS: readonly AlgorithmName[] = ['fixed-window', 'sliding-window-log', 'token-bucket'];
const NAME = /^\s*([^\s:]+)\s*:\s*/;
const GOOD_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;
const DURATION = /^[1-9]\d*(?:ms|s|m|h|d)$/;
const GRIDS = ['clock', 'first-request'] as const;

/**
 * Throws ERR_LIMITER_LIMIT_TEXT with the text, the word and the rule.
 * @example parseLimitText('20/60s sliding-window-log by ip').axes // ['ip']
 */
export function parseLimitText(text: string): LimitSpec {
  const fail = (rule: string): never => {
    throw new ReplayError('ERR_LIMITER_LIMIT_TEXT', `${quoted(text)}: ${rule}`);
  };
  const name = NAME.exec(text);
  if (name && !GOOD_NAME.test(name[1] as string)) {
    fail(
      `a name begins with a letter and goes on with up to 63 letters, digits, "_", "." or "-", got ${quoted(name[1] as string)}`,
    );
  }
  const words = text
    .slice(name?.[0].length ?? 0)
    .replaceAll(/\s*,\s*/g, ',')
    .trim()
    .split(/\s+/);

  const [rate = '', algorithm = ''] = words.splice(0, 2);
  const slash = rate.indexOf('/');
  if (slash === -1) fail(`begins with AMOUNT/TIME, as in "20/60s", got ${quoted(rate)}`);
  const amount = wholeNumber(rate.slice(0, slash), 'the amount', fail);
  const per = duration(rate.slice(slash + 1), 'the time after "/"', fail);
  if (!includes(ALGORITHMS, algorithm))
    return fail(`the algorithm is one of ${ALGORITHMS.join(', ')}, got ${quoted(algorithm)}`);

  const said = new Map<string, string>();
  while (words.length > 0) {
    const word = words.shift() as string;
    if (!['capacity', 'by', 'align', 'offset', 'shadow'].includes(word)) {
      fail(
        `after the algorithm come "capacity N", "by AXIS", "align GRID", "offset TIME" and "shadow", got ${quoted(word)}`,
      );
    }
    if (said.has(word)) fail(`"${word}" is said twice`);
    const value = word === 'shadow' ? '' : words.shift();
    said.set(word, value ?? fail(`"${word}" is the last word; its value is missing`));
  }
  if (said.has('capacity') && algorithm !== 'token-bucket')
    fail(`"capacity" is for token-bucket; ${algorithm} has only its amount`);
  for (const word of ['align', 'offset']) {
    if (said.has(word) && algorithm !== 'fixed-window') fail(`"${word}" is for fixed-window; ${algorithm} has no grid`);
  }
  const capacity = said.has('capacity') ? wholeNumber(said.get('capacity') as string, 'capacity', fail) : amount;
  const offset = said.has('offset') ? duration(said.get('offset') as string, 'offset', fail) : undefined;
  const align = said.get('align') ?? 'clock';
  if (!includes(GRIDS, align)) return fail(`align is one of ${GRIDS.join(', ')}, got ${quoted(align)}`);
  if (align === 'first-request' && offset !== undefined)
    fail('"offset" shifts the grid of align clock; first-request has none');
  const axes = axesOf(said.get('by') ?? 'ip', fail);
  const shadow = said.has('shadow');

  const spec = { algorithm, amount, per, capacity, axes, align, offset, shadow };
  return { name: name?.[1] ?? algorithm, ...spec, text: written(spec) };
}

/** All limits of one command. An unnamed one is called after its algorithm; the same name twice is an error. */
export function parseLimitTexts(texts: readonly string[]): readonly LimitSpec[] {
  const taken = new Set<string>();
  const specs = texts.map((text) => ({ text, named: NAME.test(text), spec: parseLimitText(text) }));
  for (const { text, named, spec } of specs) {
    if (!named) continue;
    if (taken.has(spec.name))
      throw new ReplayError('ERR_LIMITER_LIMIT_TEXT', `${quoted(text)}: another limit has this name`);
    taken.add(spec.name);
  }
  return specs.map(({ named, spec }) => {
    if (named) return spec;
    let name = spec.name;
    for (let n = 2; taken.has(name); n++) name = `${spec.name}-${n}`;
    taken.add(name);
    return { ...spec, name };
  });
}

type Fail = (rule: string) => never;

function wholeNumber(text: string, what: string, fail: Fail): number {
  const number = /^\d[\d_]*$/.test(text) ? Number(text.replaceAll('_', '')) : Number.NaN;
  return Number.isSafeInteger(number)
    ? number
    : fail(`${what} is a whole number from 0 to 2^53-1, got ${quoted(text)}`);
}

function duration(text: string, what: string, fail: Fail): Duration {
  return DURATION.test(text)
    ? (text as Duration)
    : fail(`${what} is a positive whole amount of ms, s, m, h or d, as in "60s", got ${quoted(text)}`);
}

function axesOf(text: string, fail: Fail): readonly Axis[] {
  if (text === '*') return [];
  const axes = text.split(',');
  for (const axis of axes) {
    if (!includes(AXES, axis))
      fail(`by takes ${AXES.join(', ')}, several of them as in "ip, path", or "*" for everybody, got ${quoted(axis)}`);
  }
  if (new Set(axes).size < axes.length) fail(`by names an axis twice, got ${quoted(text)}`);
  return axes as Axis[];
}

function includes<T extends string>(words: readonly T[], word: string): word is T {
  return (words as readonly string[]).includes(word);
}

function written({
  algorithm,
  amount,
  per,
  capacity,
  axes,
  align,
  offset,
  shadow,
}: Omit<LimitSpec, 'name' | 'text'>): string {
  const parts = [`${amount}/${per}`, algorithm];
  if (capacity !== amount) parts.push(`capacity ${capacity}`);
  parts.push(`by ${axes.length === 0 ? '*' : axes.join(', ')}`);
  if (align !== 'clock') parts.push(`align ${align}`);
  if (offset !== undefined) parts.push(`offset ${offset}`);
  if (shadow) parts.push('shadow');
  return parts.join(' ');
}
