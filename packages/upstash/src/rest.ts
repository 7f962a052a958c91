/** One command as one HTTP request, sent once, with an end. What comes back is sorted by one question: can the command have run? */
import type { Endpoint } from './endpoint.js';
import { neverSent } from './never-sent.js';
import { sentOnce } from './sent-once.js';

export type Reply =
  /** Redis carried the command out. */
  | { readonly kind: 'result'; readonly result: unknown }
  /** Redis answered with an error of its own. */
  | { readonly kind: 'error'; readonly message: string }
  /** Somebody else answered, or nobody. */
  | {
      readonly kind: 'fault';
      readonly fault: 'unreachable' | 'refused' | 'unknown-outcome';
      readonly cause: unknown;
    };

export interface Rest {
  /** Never rejects. */
  send(command: readonly string[]): Promise<Reply>;
}

/** How Redis begins an error: `ERR ...`, `OOM ...`, `NOSCRIPT ...`. */
const REDIS_ERROR = /^[A-Z][A-Z0-9]*(?: |$)/;
/** Errors that are proof that nothing ran, whatever the status of the answer. */
const NOTHING_RAN = /^(?:NOSCRIPT|LIMITERLATE)\b/;

/**
 * @param lifeMs how long a request may take from its start to the last byte of the answer.
 */
export function rest(endpoint: Endpoint, lifeMs: number): Rest {
  let syncToken = '';

  function headers(): Record<string, string> {
    const all = endpoint.headers();
    all['content-type'] = 'application/json';
    if (endpoint.readYourWrites) all['upstash-sync-token'] = syncToken;
    return all;
  }

  return {
    async send(command) {
      const controller = new AbortController();
      const end = (): void => controller.abort(new Error(`Upstash has not answered within ${lifeMs} ms`));
      const timer = setTimeout(end, lifeMs);
      try {
        // A redirect would send the command on to somebody else.
        const response = await fetch(endpoint.url, {
          ...endpoint.init,
          method: 'POST',
          headers: headers(),
          ...sentOnce(JSON.stringify(command)),
          redirect: 'manual',
          signal: controller.signal,
        });
        if (response.ok && endpoint.readYourWrites) syncToken = response.headers.get('upstash-sync-token') ?? '';
        return readReply(response.status, await response.text());
      } catch (cause) {
        return { kind: 'fault', fault: neverSent(cause) ? 'unreachable' : 'unknown-outcome', cause };
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** What an answer with this status and body says. */
export function readReply(status: number, text: string): Reply {
  const body = parsed(text);
  const message = errorIn(body);
  if (message !== undefined && REDIS_ERROR.test(message) && (status < 500 || NOTHING_RAN.test(message))) {
    return { kind: 'error', message };
  }
  if (status === 200 && body !== undefined && 'result' in body && message === undefined) {
    return { kind: 'result', result: body['result'] };
  }
  // 408 and 499 tell of a request that somebody stopped waiting for; every other 3xx and 4xx of one that was turned away.
  const turnedAway = status >= 300 && status < 500 && status !== 408 && status !== 499;
  return {
    kind: 'fault',
    fault: turnedAway ? 'refused' : 'unknown-outcome',
    cause: new Error(`Upstash answered ${status}: ${message ?? shortened(text)}`),
  };
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null && !Array.isArray(body)
      ? (body as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}

function errorIn(body: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const error = body?.['error'];
  if (typeof error !== 'string') return undefined;
  // An error that a script returns may get the general code of errors before its own.
  return error.replace(/^ERR (?=LIMITER|NOSCRIPT)/, '');
}

const shortened = (text: string): string => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}...` : text);
