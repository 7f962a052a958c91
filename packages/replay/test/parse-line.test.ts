import { describe, expect, it } from 'vitest';
import { type LogRequest, lineParser } from '../src/parse-line.js';
import { lines } from './log-fixtures.js';

const parse = lineParser();
const read = (line: string): LogRequest => {
  const result = parse(line);
  if (typeof result === 'string') throw new Error(`${result}: ${line}`);
  return result;
};

/** What both servers wrote for the same odd requests, in the order of the sample files. */
type Row = readonly [
  method: string | null,
  path: string | RegExp | null,
  agent: string | null,
  odd: string | null,
  why: string,
];
const ODD: readonly Row[] = [
  ['GET', '/', 'plain/1', null, 'a plain request'],
  ['GET', '/', 'quo"te \\ back\\slash', null, 'quotes and backslashes in referer and agent'],
  ['GET', '/', 'café 😀 raw\uFFFD', null, 'UTF-8 as escaped bytes; one byte that is none'],
  ['GET', '/', 'tab\there', null, 'a tab, \\x09 or \\t'],
  ['GET', '/a"b\\c', null, null, 'a quote in the path'],
  ['GET', '/a b', null, 'malformed', 'a space in the path'],
  ['GET', '/%22%5C%00', null, null, 'percent escapes are left alone'],
  ['GET', '/', 'xff', null, 'a forwarded request counts for the address that connected'],
  ['GET', '/', null, null, 'a user with spaces (nginx), a plain one (Apache)'],
  ['GET', '/', null, null, 'HTTP/0.9 has no protocol word'],
  ['PRI', '*', null, null, 'the preface of HTTP/2'],
  [null, null, null, 'malformed', 'a TLS handshake on a plain port'],
  [null, null, null, 'malformed', 'a remote desktop handshake'],
  [null, null, null, 'nothing', 'a connection without a request: "" (nginx) or "-" (Apache)'],
  [null, null, null, 'malformed', 'one word'],
  ['OPTIONS', '*', null, null, 'the asterisk form'],
  ['GET', '/abs', null, null, 'the absolute form counts as its path'],
  ['CONNECT', 'example.org:443', null, null, 'the authority form'],
  ['GET', /^\/A{2000,}$/, null, null, 'a path that is too long'],
  ['get', '/lower', null, null, 'methods are case-sensitive'],
  ['GET', '/', null, null, 'HTTP/9.9'],
  ['FOO-BAR', '/', null, null, 'a method that nobody knows'],
  ['HEAD', '/', null, null, 'HTTP/1.0'],
  ['GET', '/', null, null, 'a request that never ended'],
];

describe.each(['nginx-combined', 'nginx-xff-rt', 'apache-combined', 'apache-vhost-combined-D'])('%s', (name) => {
  it.each(ODD.map((row, index) => [index + 1, row[4], row] as const))(
    'reads line %i: %s',
    (line, _why, [method, path, agent, odd]) => {
      const request = read(lines(`formats/${name}.access.log`)[line - 1] as string);
      expect(request).toMatchObject({ client: '127.0.0.1', method, agent, odd, offsetMinutes: 0 });
      if (path instanceof RegExp) expect(request.path).toMatch(path);
      else expect(request.path).toBe(path);
      expect(request.user).toBe(name.startsWith('nginx') && line === 9 ? 'jo hn "d"' : null);
    },
  );

  it('reads every other line too, each as a well-formed GET, HEAD, OPTIONS, get or FOO-BAR', () => {
    for (const line of lines(`formats/${name}.access.log`).slice(ODD.length)) {
      expect(read(line)).toMatchObject({
        odd: null,
        method: expect.stringMatching(/^(GET|HEAD|OPTIONS|get|FOO-BAR)$/),
      });
    }
  });
});

describe('formats', () => {
  it('reads what follows the sample of the server itself: IPv6, 499, a slow request dated by its arrival', () => {
    const nginx = lines('formats/nginx-combined.access.log');
    expect(read(nginx[38] as string).client).toBe('::1');
    expect(read(nginx[45] as string)).toMatchObject({ path: '/slow', status: 499 });
    const apache = lines('formats/apache-vhost-combined-D.access.log');
    expect(read(apache[25] as string).at).toBe(read(apache[24] as string).at - 1_000);
  });

  it.each([
    [3, { client: '203.0.113.9' }],
    [4, { path: '/a"b\\c', agent: null }],
    [5, { user: 'jo hn' }],
    [6, { agent: 'cafÃ©' }],
    [9, { path: '/slow', status: null }],
  ])('reads line %i of morgan, an aborted request without a status included', (line, fields) => {
    expect(read(lines('formats/morgan-combined.access.log')[line - 1] as string)).toMatchObject(fields);
  });

  it.each([
    ['caddy.ndjson', 'json'],
    ['nginx-escape-json.ndjson', 'json'],
    ['nginx-json-default-escape-INVALID.ndjson', 'json'],
    ['pino-http.ndjson', 'json'],
    ['haproxy-syslog.access.log', 'syslog'],
  ])('says of every line of %s that it is %s', (name, reason) => {
    expect(new Set(lines(`formats/${name}`).map(parse))).toEqual(new Set([reason]));
  });

  const time = '[29/Nov/2026:20:02:52 +0100]';
  it.each([
    [
      `192.0.2.7 - ann ${time} "GET /a HTTP/1.1" 404 -`,
      { client: '192.0.2.7', user: 'ann', path: '/a', status: 404, agent: null },
      'the common format',
    ],
    [
      `example.org 192.0.2.7 - - ${time} "GET / HTTP/1.1" 200 5 "-" "x"`,
      { client: '192.0.2.7', agent: 'x' },
      'a virtual host without a port',
    ],
    [
      `10.0.0.1:80 192.0.2.7 - - ${time} "GET / HTTP/1.1" 200 5`,
      { client: '192.0.2.7' },
      'a virtual host that is an address',
    ],
    [
      `Nov 29 20:02:52 web nginx: 192.0.2.7 - - ${time} "GET / HTTP/1.1" 200 5`,
      { client: '192.0.2.7' },
      'behind the prefix of syslog',
    ],
    [
      `web_1  | 192.0.2.7 - - ${time} "GET / HTTP/1.1" 200 5`,
      { client: '192.0.2.7' },
      'behind the prefix of a container',
    ],
    [
      `203.0.113.9, 192.0.2.7 - - ${time} "GET / HTTP/1.1" 200 5`,
      { client: '192.0.2.7' },
      'of a list of forwarded addresses the last, which no client can forge',
    ],
    [
      `Host.Example.org - - ${time} "GET / HTTP/1.1" 200 5`,
      { client: 'host.example.org' },
      'a host name (HostnameLookups On)',
    ],
    [
      `www:443 host.example - ann ${time} "GET / HTTP/1.1" 200 5`,
      { client: 'host.example', user: 'ann' },
      'a host name behind a virtual host',
    ],
    [
      `::ffff:192.0.2.7 - - ${time} "GET / HTTP/1.1" 200 5`,
      { client: '192.0.2.7' },
      'an IPv4-mapped address is the IPv4 address',
    ],
    [`2001:DB8::0:1 - - ${time} "GET / HTTP/1.1" 200 5`, { client: '2001:db8::1' }, 'IPv6 in one spelling'],
    [`192.0.2.7 - a [b] ${time} "GET / HTTP/1.1" 200 5`, { user: 'a [b]' }, 'a user with brackets'],
    [`192.0.2.7 - "" ${time} "GET / HTTP/1.1" 200 5`, { user: null }, 'an empty user (Apache)'],
    [
      `192.0.2.7 - - ${time} "GET / HTTP/1.1" 200 5 "-" "never clo`,
      { agent: null },
      'cut off after all that is needed',
    ],
    [`192.0.2.7 - - ${time} "GET / HTTP/1.1" 200 5\r`, { status: 200 }, 'a line from Windows'],
    [`192.0.2.7 - - ${time} "GET /s?q=/x#y HTTP/1.1" 200 5`, { path: '/s' }, 'a path without its query'],
    [`192.0.2.7 - - ${time} "GET /?x HTTP/2.0" 200 5`, { path: '/' }, 'HTTP/2'],
    [`192.0.2.7 - - ${time} "GET http://h HTTP/1.1" 200 5`, { path: '/' }, 'an absolute URL without a path'],
    [`192.0.2.7 - - ${time} "GET / HTTP/1.1" 200 5 "-" "x" "1" 0.25`, { agent: 'x' }, 'more fields behind the agent'],
    [
      `192.0.2.7 - - ${time} "GET / HTTP/1.1" 200 5 "\\\\" "x\\\\"`,
      { agent: 'x\\' },
      'a field that ends in an escaped backslash',
    ],
  ])('reads %s as %o: %s', (line, fields, _why) => {
    expect(read(line)).toMatchObject(fields);
  });

  it.each([
    ['', 'blank', 'nothing'],
    ['  \t', 'blank', 'white space'],
    ['#Fields: date time c-ip', 'directive', 'a W3C header'],
    ['garbage', 'no-time', 'anything'],
    ['\0\0\0\0', 'no-time', 'what a crash leaves behind'],
    ['192.0.2.7 - - [29/Nov/2026:20:02:52] "GET / HTTP/1.1" 200 5', 'bad-time', 'no zone'],
    ['192.0.2.7 - - [31/Feb/2026:20:02:52 +0000] "GET / HTTP/1.1" 200 5', 'bad-time', 'no such day'],
    ['192.0.2.7 - - [29/Nov/2026:20:02', 'bad-time', 'cut off in the time'],
    [`- - - ${time} "GET / HTTP/1.1" 200 5`, 'no-client', 'no client'],
    [`192.0.2.7 - - ${time} GET / 200 5`, 'no-request', 'a request without quotes'],
    [`192.0.2.7 - - ${time}`, 'cut-off', 'cut off after the time'],
    [`192.0.2.7 - - ${time} "GET /long`, 'cut-off', 'cut off in the request'],
    [`192.0.2.7 - - ${time} "GET / HTTP/1.1"`, 'cut-off', 'cut off after the request'],
    [`192.0.2.7 - - ${time} "GET / HTTP/1.1" 20`, 'no-status', 'cut off in the status'],
    [`192.0.2.7 - - ${time} "GET /a"b HTTP/1.1" 200 5`, 'no-status', 'a quote that nobody escaped'],
  ])('cannot read %j: %s (%s)', (line, reason) => {
    expect(parse(line)).toBe(reason);
  });
});

describe('clients', () => {
  it('counts the addresses of one IPv6 network as one client where a prefix is given', () => {
    const network = lineParser({ ipv6Prefix: 64 });
    const line = (client: string): string => `${client} - - [29/Nov/2026:20:02:52 +0000] "GET / HTTP/1.1" 200 5`;
    expect(network(line('2001:db8:1:2:3::4'))).toMatchObject({ client: '2001:db8:1:2::/64' });
    expect(network(line('2001:db8:1:2:ffff::'))).toMatchObject({ client: '2001:db8:1:2::/64' });
    expect(network(line('::ffff:192.0.2.7'))).toMatchObject({ client: '192.0.2.7' });
  });

  it('reads a line of only brackets in bounded time', () => {
    const started = performance.now();
    expect(parse(`192.0.2.7 - - ${' [x]'.repeat(250_000)}`)).toBe('bad-time');
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
