import { describe, expect, it } from 'vitest';
import { screen, table, wrap } from '../src/layout.js';
import { duration, ending, figure, moment, percent, plural, safe, some, zone } from '../src/words.js';

describe('words', () => {
  it.each([
    [0, '0%'],
    [1, '100%'],
    [0.000001, '< 0.01%'],
    [0.0326, '3.26%'],
    [0.1234, '12.3%'],
    [0.99999, '99.9%'],
  ])('a share of %d reads %s: nothing and everything only where it is so', (share, text) => {
    expect(percent(share)).toBe(text);
  });

  it.each([
    [0, 'one instant'],
    [250, '250 ms'],
    [1_000, '1 second'],
    [5_400_000, '1 hour 30 minutes'],
    [86_400_000 * 15 + 3_600_000 * 11 + 59_000, '15 days 11 hours'],
    [86_400_000 + 59_000, '1 day'],
  ])('%d ms read "%s"', (ms, text) => {
    expect(duration(ms)).toBe(text);
  });

  it('counts say when they are lower bounds', () => {
    expect(some({ count: 1_234, exact: true }, 'client')).toBe('1,234 clients');
    expect(some({ count: 500_000, exact: false }, 'client')).toBe('at least 500,000 clients');
    expect(figure({ count: 500_000, exact: false })).toBe('≥ 500,000');
    expect([plural(1, 'client'), plural(2_000, 'client')]).toEqual(['1 client', '2,000 clients']);
  });

  it('times are shown in the zone of the log', () => {
    expect(moment('2025-04-17T02:10:56.000Z', 120)).toBe('2025-04-17 04:10:56');
    expect([zone(0), zone(-570)]).toEqual(['+0000', '-0930']);
  });

  it('foreign text cannot write to the terminal', () => {
    expect(safe('/\u001b[31mred\u202Eevil\u0007')).toBe('/\\u{1b}[31mred\\u{202e}evil\\u{7}');
    expect(safe('/a/very/long/path', 8)).toBe('/a/very…');
    expect(ending('/var/log/nginx/access.log', 12)).toBe('…/access.log');
  });
});

describe('layout', () => {
  it('wraps prose at words and indents what follows', () => {
    expect(wrap('one two three four', screen(60, false))).toBe('one two three four');
    expect(wrap('aaaa bbbb cccc', screen(10, false), 1)).toBe('aaaa bbbb\n cccc');
  });

  it('keeps a table within the width and wraps the column without one', () => {
    const drawn = table(
      [
        { head: 'limit', wraps: true },
        { head: 'refused', align: 'right' },
      ],
      [['20/60s sliding-window-log by ip, path shadow', '326']],
      screen(40, false),
    );
    expect(Math.max(...drawn.split('\n').map((line) => line.length))).toBeLessThanOrEqual(40);
    expect(drawn).toContain('326');
    expect(drawn.split('\n').length).toBe(3);
  });
});
