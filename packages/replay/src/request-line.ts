/**
 * The first line of a request, `GET /path?query HTTP/1.1` (RFC 9112, section 3), as a log quotes it. A server logs what
 * arrived, so anything may stand here: TLS bytes on a plain port, one word, nothing.
 */
import { unescapeField } from './escapes.js';

/**
 * `nothing`: the client sent no request line (`""` or `"-"`, as after a timeout).
 * `malformed`: no HTTP request line; method and path are what could still be told.
 */
export type Oddity = 'nothing' | 'malformed';

export interface RequestLine {
  /** As sent; methods are case-sensitive (RFC 9110, 9.1). null where none can be told. */
  readonly method: string | null;
  /** Without query and fragment; of an absolute URL the path only. Not decoded: `/%61` is not `/a`. */
  readonly path: string | null;
  readonly odd: Oddity | null;
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const PROTOCOL = /^HTTP\/\d(?:\.\d)?$/;
const ABSOLUTE = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#]*/;

/** @example parseRequestLine('GET /cart?id=7 HTTP/1.1') // { method: 'GET', path: '/cart', odd: null } */
export function parseRequestLine(text: string): RequestLine {
  if (text === '' || text === '-') return { method: null, path: null, odd: 'nothing' };
  const space = text.indexOf(' ');
  const method = space === -1 ? text : text.slice(0, space);
  if (space === -1 || !TOKEN.test(method)) return { method: null, path: null, odd: 'malformed' };
  const last = text.lastIndexOf(' ');
  // HTTP/0.9 has no protocol word: `GET /` is whole.
  const target =
    last > space && PROTOCOL.test(text.slice(last + 1)) ? text.slice(space + 1, last) : text.slice(space + 1);
  if (target === '') return { method, path: null, odd: 'malformed' };
  return { method, path: pathOf(target), odd: target.includes(' ') ? 'malformed' : null };
}

function pathOf(target: string): string {
  const end = target.search(/[?#]/);
  const bare = end === -1 ? target : target.slice(0, end);
  if (bare.startsWith('/')) return unescapeField(bare);
  const origin = ABSOLUTE.exec(target)?.[0];
  return unescapeField(origin === undefined ? bare : bare.slice(origin.length) || '/');
}
