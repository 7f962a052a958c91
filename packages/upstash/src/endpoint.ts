/**
 * Where the requests go, read from the client that the caller hands in, or from an address and a token.
 *
 * The store sends its own requests. The client's sending cannot be made safe for a charge: it sends a request that failed
 * again (`retry: false` still sends it twice), it joins calls of its own in pipelines, and an aborted call may resolve to the
 * reason of the abort. Its address, headers and consistency setting are what is wanted of it.
 */
import { LimiterError } from '@limiter/core';

/** A Redis of @upstash/redis, from whichever of its entries (Node, Cloudflare, Fastly). */
export interface UpstashClient {
  readonly readYourWritesSyncToken: string | undefined;
  readonly evalsha: (sha1: string, keys: string[], args: string[]) => Promise<unknown>;
}

/** `UPSTASH_REDIS_REST_URL` and `UPSTASH_REDIS_REST_TOKEN` of a database. */
export interface UpstashCredentials {
  readonly url: string;
  readonly token: string;
}

export interface Endpoint {
  readonly url: string;
  /** Read anew for every request: a client's token may be exchanged while it is in use. */
  headers(): Record<string, string>;
  /** What else the client gives `fetch`: how Next.js may cache, which backend of Fastly is meant. */
  readonly init: Readonly<Record<string, unknown>>;
  /** Does a request name the newest state that an earlier one has seen? (Databases with replicas in several regions.) */
  readonly readYourWrites: boolean;
}

/** The requester inside a client of @upstash/redis. */
interface Requester {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly options: Readonly<Record<string, unknown>>;
  readonly readYourWrites: boolean;
}

/** What the store decides for itself: plain answers need no decoding, and it keeps its own sync token. */
const OWN_HEADERS: ReadonlySet<string> = new Set(['upstash-encoding', 'upstash-sync-token', 'content-type']);
const URL_RULE = /^https?:\/\/[^\s?#]+$/;
const TOKEN_RULE = /^[\x21-\x7e]+$/;

const INSTEAD = 'hand in { url, token } (UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN) instead';

function mistake(message: string): LimiterError {
  return new LimiterError('ERR_LIMITER_CLIENT', message);
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** @throws ERR_LIMITER_CLIENT */
export function endpointOf(client: UpstashClient | UpstashCredentials): Endpoint {
  // The client may be a proxy that answers any name with a function, so each part is asked for what it is.
  const given: unknown = client;
  if (isRecord(given) && isRecord(given['client'])) return endpointOfRequester(given['client']);
  if (isRecord(given) && typeof given['url'] === 'string' && typeof given['token'] === 'string') {
    const { url, token } = given;
    checkUrl(url);
    checkToken(token);
    return { url, headers: () => ({ authorization: `Bearer ${token}` }), init: {}, readYourWrites: true };
  }
  throw mistake(`the client must be a Redis of @upstash/redis or { url, token }, got ${describe(given)}`);
}

function endpointOfRequester(requester: Readonly<Record<string, unknown>>): Endpoint {
  const { baseUrl, headers, options, readYourWrites } = requester;
  if (
    typeof baseUrl !== 'string' ||
    !isRecord(headers) ||
    typeof headers['authorization'] !== 'string' ||
    !isRecord(options) ||
    typeof readYourWrites !== 'boolean'
  ) {
    throw mistake(
      `the client must be made by @upstash/redis >= 1.39 with url and token (not with a requester of your own), because it is not known whether another one sends a request twice; ${INSTEAD}`,
    );
  }
  const known = requester as unknown as Requester;
  checkUrl(baseUrl);
  checkToken(headers['authorization'].replace(/^Bearer /, ''));
  const init: Record<string, unknown> = {};
  for (const name of ['cache', 'backend']) if (known.options[name] !== undefined) init[name] = known.options[name];
  return {
    url: baseUrl,
    headers: () => {
      const own: Record<string, string> = {};
      for (const [name, value] of Object.entries(known.headers)) {
        if (!OWN_HEADERS.has(name.toLowerCase())) own[name] = value;
      }
      return own;
    },
    init,
    readYourWrites,
  };
}

function checkUrl(url: string): void {
  if (!URL_RULE.test(url)) throw mistake(`the url must begin with https:// (or http://), got ${describe(url)}`);
}

/** Never shown: it is a secret. A client that was made without one says `Bearer undefined`. */
function checkToken(token: string): void {
  if (!TOKEN_RULE.test(token) || token === 'undefined' || token === 'null') {
    throw mistake('the token must be text of printable characters without spaces (it is missing, or was cut wrongly)');
  }
}

function describe(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 80));
  if (isRecord(value)) return `{ ${Object.keys(value).slice(0, 5).join(', ')} }`;
  return String(value);
}
