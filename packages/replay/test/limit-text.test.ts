import { describe, expect, it } from 'vitest';
import { ReplayError } from '../src/errors.js';
import { parseLimitText, parseLimitTexts } from '../src/limit-text.js';

describe('a limit in words', () => {
  it.each([
    [
      '20/60s sliding-window-log by ip',
      {
        name: 'sliding-window-log',
        algorithm: 'sliding-window-log',
        amount: 20,
        per: '60s',
        axes: ['ip'],
        shadow: false,
      },
    ],
    ['20/1m fixed-window', { axes: ['ip'], align: 'clock', offset: undefined }],
    ['20/60s token-bucket by ip', { capacity: 20 }],
    [
      'burst: 20/60s token-bucket capacity 40 by ip, path',
      { name: 'burst', amount: 20, capacity: 40, axes: ['ip', 'path'] },
    ],
    ['burst:20/60s token-bucket by ip,path capacity 40', { name: 'burst', capacity: 40, axes: ['ip', 'path'] }],
    ['site: 10_000/1h fixed-window by * shadow', { amount: 10_000, axes: [], shadow: true }],
    ['5/1d fixed-window align clock offset 2h by user', { align: 'clock', offset: '2h', axes: ['user'] }],
    ['5/250ms fixed-window shadow align first-request', { align: 'first-request', shadow: true }],
    ['0/60s fixed-window by status-class , method , agent', { amount: 0, axes: ['status-class', 'method', 'agent'] }],
  ])('%s', (text, fields) => {
    expect(parseLimitText(text)).toMatchObject(fields);
  });

  it.each([
    'burst: 20/60s token-bucket capacity 40 by ip, path shadow',
    '5/1d fixed-window by user offset 2h',
    '5/1d fixed-window by * align first-request',
    '5/1d sliding-window-log by agent',
  ])('writes %s as it was read', (text) => {
    expect(parseLimitText(text).text).toBe(text.replace('burst: ', ''));
  });

  it.each([
    ['', 'begins with AMOUNT/TIME, as in "20/60s", got ""'],
    ['20 fixed-window', 'begins with AMOUNT/TIME, as in "20/60s", got "20"'],
    ['-1/60s fixed-window', 'the amount is a whole number from 0 to 2^53-1, got "-1"'],
    ['1.5/60s fixed-window', 'got "1.5"'],
    ['9007199254740992/60s fixed-window', 'got "9007199254740992"'],
    ['20/60 fixed-window', 'the time after "/" is a positive whole amount of ms, s, m, h or d, as in "60s", got "60"'],
    ['20/0s fixed-window', 'got "0s"'],
    ['20/1min fixed-window', 'got "1min"'],
    ['20/60s', 'the algorithm is one of fixed-window, sliding-window-log, token-bucket, got ""'],
    ['20/60s sliding by ip', 'got "sliding"'],
    [
      '20/60s fixed-window by host',
      'by takes ip, path, method, user, status-class, agent, several of them as in "ip, path", or "*" for everybody, got "host"',
    ],
    ['20/60s fixed-window by ip, *', 'got "*"'],
    ['20/60s fixed-window by ip,ip', 'by names an axis twice, got "ip,ip"'],
    ['20/60s fixed-window by', '"by" is the last word; its value is missing'],
    ['20/60s fixed-window by ip by path', '"by" is said twice'],
    [
      '20/60s fixed-window for ip',
      'after the algorithm come "capacity N", "by AXIS", "align GRID", "offset TIME" and "shadow", got "for"',
    ],
    ['20/60s fixed-window capacity 40', '"capacity" is for token-bucket; fixed-window has only its amount'],
    ['20/60s token-bucket align clock', '"align" is for fixed-window; token-bucket has no grid'],
    ['20/60s fixed-window align hour', 'align is one of clock, first-request, got "hour"'],
    [
      '20/60s fixed-window align first-request offset 1s',
      '"offset" shifts the grid of align clock; first-request has none',
    ],
    [
      '2nd: 20/60s fixed-window',
      'a name begins with a letter and goes on with up to 63 letters, digits, "_", "." or "-", got "2nd"',
    ],
  ])('refuses %j: %s', (text, message) => {
    expect(() => parseLimitText(text)).toThrowError(message);
    try {
      parseLimitText(text);
    } catch (error) {
      expect(error).toBeInstanceOf(ReplayError);
      expect((error as ReplayError).code).toBe('ERR_LIMITER_LIMIT_TEXT');
      expect((error as ReplayError).message).toContain(JSON.stringify(text));
    }
  });

  it('names limits without a name after their algorithm, and never two alike', () => {
    const texts = ['1/1s fixed-window', '2/1s fixed-window', 'fixed-window-2: 3/1s fixed-window', '4/1s token-bucket'];
    expect(parseLimitTexts(texts).map(({ name }) => name)).toEqual([
      'fixed-window',
      'fixed-window-3',
      'fixed-window-2',
      'token-bucket',
    ]);
    expect(() => parseLimitTexts(['a: 1/1s fixed-window', 'a: 2/1s fixed-window'])).toThrowError(
      'another limit has this name',
    );
  });
});
