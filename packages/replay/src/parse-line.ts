/**
 * One line of an access log in the common or combined format -> a request, or the reason why it is none.
 * https://httpd.apache.org/docs/2.4/logs.html#combined  https://nginx.org/en/docs/http/ngx_http_log_module.html
 *
 *     [vhost[:port]] client ident user [time] "request" status bytes ["referer" "agent" [anything]]
 *
 * What stands before the client (a virtual host, a syslog or container prefix) and after the agent (request time, `%D`,
 * forwarded addresses) is passed over.
 */
import { type ClientOptions, clientAddress } from './client-address.js';
import { closingQuote, unescapeField } from './escapes.js';
import { interner } from './intern.js';
import { type LogTime, parseLogTime } from './log-time.js';
import { type Oddity, parseRequestLine } from './request-line.js';

/** A field that the log does not have, or has as `-`, is null. */
export interface LogRequest {
  /** ms since the Unix epoch. */
  readonly at: number;
  readonly offsetMinutes: number;
  /** An address as `clientAddress` spells it, or a host name in lower case. */
  readonly client: string;
  /** The authenticated user. */
  readonly user: string | null;
  readonly method: string | null;
  readonly path: string | null;
  readonly status: number | null;
  readonly agent: string | null;
  /** A readable line with an odd request is a request of its client all the same. */
  readonly odd: Oddity | null;
}

/** Why a line is no request. `REASONS` in words.ts says each in words. */
export type Unreadable =
  | 'json'
  | 'syslog'
  | 'directive'
  | 'no-time'
  | 'bad-time'
  | 'no-client'
  | 'no-request'
  | 'cut-off'
  | 'no-status';

/** `blank`: nothing to read and nothing wrong. */
export type ParseLine = (line: string) => LogRequest | Unreadable | 'blank';

const STATUS = /^ (\d{3}|-)(?= |$)/;
const BYTES = /^ (?:\d+|-)(?= |$)/;

/** Remembers the last time and each client's spelling: most lines repeat them. */
export function lineParser(options: ClientOptions = {}): ParseLine {
  const intern = interner();
  const addresses = new Map<string, string | undefined>();
  let last: { text: string; time: LogTime | undefined } = { text: '', time: undefined };

  const timeOf = (text: string): LogTime | undefined => {
    if (text !== last.text) last = { text, time: parseLogTime(text) };
    return last.time;
  };
  const addressOf = (text: string): string | undefined => {
    if (addresses.has(text)) return addresses.get(text);
    if (addresses.size >= 65_536) addresses.clear();
    const address = clientAddress(text, options);
    addresses.set(intern(text), address);
    return address;
  };
  /** The client and what follows it, ident and user. */
  const clientOf = (head: string): readonly [client: string, rest: string] | undefined => {
    const space = head.indexOf(' - ');
    const only = space === -1 ? undefined : addressOf(head.slice(0, space));
    if (only !== undefined) return [only, head.slice(space + 1)];
    const words = head.split(' ');
    let found = words.findIndex((word) => addressOf(word) !== undefined);
    // A virtual host may be an address too: then the client is the second of two.
    while (found !== -1 && addressOf(words[found + 1] ?? '') !== undefined) found++;
    // HostnameLookups On: a name instead of an address, behind `vhost:port` if that is there.
    if (found === -1) found = /:\d+$/.test(words[0] as string) && words.length > 3 ? 1 : 0;
    const word = words[found] as string;
    if (word === '' || word === '-') return undefined;
    return [addressOf(word) ?? intern(word.toLowerCase()), words.slice(found + 1).join(' ')];
  };

  return (raw) => {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    if (line.trim() === '') return 'blank';

    // The user may hold brackets: the time is the first bracket that reads as one.
    let time: LogTime | undefined;
    let open = line.indexOf(' [');
    let close = -1;
    for (const first = open; open !== -1; open = line.indexOf(' [', open + 1)) {
      close = line.indexOf(']', open);
      if (close === -1) break;
      time = timeOf(line.slice(open + 2, close));
      if (time || open - first > 4_096) break;
    }
    if (!time) return without(line);

    const who = clientOf(line.slice(0, open));
    if (!who) return 'no-client';
    if (line.charCodeAt(close + 2) !== 34) return close + 2 >= line.length ? 'cut-off' : 'no-request';
    const end = closingQuote(line, close + 3);
    if (end === -1) return 'cut-off';
    const request = parseRequestLine(line.slice(close + 3, end));
    const rest = line.slice(end + 1);
    const status = STATUS.exec(rest);
    if (!status) return rest.trim() === '' ? 'cut-off' : 'no-status';
    const user = who[1].slice(who[1].indexOf(' ') + 1);
    const agent = agentOf(rest, status[0].length);
    return {
      at: time.at,
      offsetMinutes: time.offsetMinutes,
      client: who[0],
      user: !who[1].includes(' ') || absent(user) ? null : intern(unescapeField(user)),
      method: request.method === null ? null : intern(request.method),
      path: request.path === null ? null : intern(request.path),
      status: status[1] === '-' ? null : Number(status[1]),
      agent: agent === undefined || absent(agent) ? null : intern(unescapeField(agent)),
      odd: request.odd,
    };
  };
}

const absent = (field: string): boolean => field === '-' || field === '' || field === '""';

/** The second quoted field after the bytes; a log in the common format has none. */
function agentOf(rest: string, from: number): string | undefined {
  const bytes = BYTES.exec(rest.slice(from, from + 32))?.[0].length;
  if (bytes === undefined || rest.charCodeAt(from + bytes + 1) !== 34) return undefined;
  const referer = closingQuote(rest, from + bytes + 2);
  if (referer === -1 || !rest.startsWith(' "', referer + 1)) return undefined;
  const end = closingQuote(rest, referer + 3);
  return end === -1 ? undefined : rest.slice(referer + 3, end);
}

/** What a line without a readable time probably is. */
function without(line: string): Unreadable {
  if (/^\s*[{[]\s*"/.test(line)) return 'json';
  if (/^<\d{1,3}>/.test(line)) return 'syslog';
  if (line.startsWith('#')) return 'directive';
  return line.includes(' [') ? 'bad-time' : 'no-time';
}
