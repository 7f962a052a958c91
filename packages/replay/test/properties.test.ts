import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inOrder, type LoggedRequest } from '../src/in-order.js';
import { lineParser } from '../src/parse-line.js';
import { entry, lines } from './log-fixtures.js';

const REAL = ['nginx-xff-rt', 'apache-vhost-combined-D', 'morgan-combined', 'haproxy-syslog'].flatMap((name) =>
  lines(`formats/${name}.access.log`),
);

/** `escape=default` of nginx, and `ap_escape_logitem` of Apache. */
const hex = (byte: number): string => byte.toString(16).padStart(2, '0');
const asNginx = (text: string): string =>
  [...Buffer.from(text)]
    .map((byte) =>
      byte < 32 || byte > 126 || byte === 34 || byte === 92
        ? `\\x${hex(byte).toUpperCase()}`
        : String.fromCharCode(byte),
    )
    .join('');
const APACHE: Readonly<Record<number, string>> = {
  8: '\\b',
  9: '\\t',
  10: '\\n',
  11: '\\v',
  13: '\\r',
  34: '\\"',
  92: '\\\\',
};
const asApache = (text: string): string =>
  [...Buffer.from(text)]
    .map((byte) => APACHE[byte] ?? (byte < 32 || byte > 126 ? `\\x${hex(byte)}` : String.fromCharCode(byte)))
    .join('');

describe('the parser', () => {
  it('never fails, and never answers with half a request, whatever stands in a line', () => {
    const parse = lineParser();
    const damaged = fc
      .tuple(fc.constantFrom(...REAL), fc.nat(), fc.nat(12), fc.string({ unit: 'binary', maxLength: 12 }))
      .map(([line, at, cut, text]) => line.slice(0, at % line.length) + text + line.slice((at % line.length) + cut));
    fc.assert(
      fc.property(fc.oneof(damaged, fc.string({ unit: 'binary', maxLength: 200 })), (line) => {
        const read = parse(line);
        if (typeof read === 'string') return;
        expect(Number.isSafeInteger(read.at) && read.at >= 0).toBe(true);
        expect(read.client.length).toBeGreaterThan(0);
        expect(read.client).not.toContain(' ');
        if (read.odd === null) expect([read.method, read.path]).not.toContain(null);
      }),
      { numRuns: 2_000 },
    );
  });

  it('reads what a client sent, however the server escaped it', () => {
    const parse = lineParser();
    // Lone surrogates are no UTF-8; a blank or "-" is how logs write "none".
    const text = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
      .filter((sent) => Buffer.from(sent).toString() === sent && sent.trim() !== '' && sent !== '-' && sent !== '""');
    const path = text.map((sent) => `/${sent.replaceAll(/[?# ]/g, '')}`);
    fc.assert(
      fc.property(path, text, fc.constantFrom(asNginx, asApache), (path, agent, escaped) => {
        const line = `192.0.2.1 - - [29/Nov/2026:20:02:52 +0000] "GET ${escaped(path)}?q HTTP/1.1" 200 5 "${escaped(agent)}" "${escaped(agent)}" 0.1`;
        expect(parse(line)).toMatchObject({ path, agent, status: 200, odd: null });
      }),
    );
  });
});

describe('the order of time', () => {
  it('loses no line, invents none, and is sorted where no line is older than the window allows', () => {
    const late = fc.array(fc.tuple(fc.nat(3), fc.nat(10)), { maxLength: 60 }).map((steps) => {
      let newest = 100;
      return steps.map(([forward, behind]) => {
        newest += forward;
        return newest - behind;
      });
    });
    fc.assert(
      fc.property(late, (seconds) => {
        const order = inOrder(10_000);
        const out: LoggedRequest[] = [];
        seconds.forEach((second, index) => {
          order.push(entry(index + 1, second), out);
        });
        order.finish(out);
        const sorted = seconds
          .map((second, index) => entry(index + 1, second))
          .sort((a, b) => a.request.at - b.request.at);
        expect(out).toEqual(sorted);
      }),
    );
  });
});
