/**
 * Upstash's REST interface over a real redis-server, for tests: `/`, `/pipeline` and `/multi-exec`, base64 answers, sync
 * tokens, its error shapes, and faults on purpose. Written from what @upstash/redis sends and understands and from the
 * published description of the interface; what is behind it is Redis itself.
 */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';

export interface UpstashRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** An answer that is given in place of the true one. */
export interface UpstashAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Is the command carried out all the same? Default false. */
  readonly run?: boolean | undefined;
}

export interface UpstashServer {
  readonly port: number;
  readonly url: string;
  readonly token: string;
  /** Every request that came in, in order, with its whole body. */
  readonly requests: readonly UpstashRequest[];
  /** The next requests get these answers, one each. */
  answer(...answers: readonly UpstashAnswer[]): void;
  /** From now on a command is carried out `beforeMs` after it came, and answered `afterMs` after that. */
  delay(delays: { readonly beforeMs?: number; readonly afterMs?: number }): void;
  stop(): Promise<void>;
}

type Result = { readonly result: unknown } | { readonly error: string };

/** Strings at every depth as base64; the answer OK itself stays as it is. */
function coded(value: unknown, depth = 0): unknown {
  if (Array.isArray(value)) return value.map((item) => coded(item, depth + 1));
  if (typeof value !== 'string' || (depth === 0 && value === 'OK')) return value;
  return Buffer.from(value, 'utf8').toString('base64');
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const isCommand = (body: unknown): body is readonly [unknown, ...unknown[]] => Array.isArray(body) && body.length > 0;

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

/**
 * @param target the redis-server behind it.
 * @example
 * const upstash = await startUpstash(server);
 * const redis = new Redis({ url: upstash.url, token: upstash.token });
 */
export async function startUpstash(target: { readonly port: number }): Promise<UpstashServer> {
  const token = 'a-token-for-tests';
  const redis = new Redis({
    host: '127.0.0.1',
    port: target.port,
    lazyConnect: true,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => 50,
  });
  redis.on('error', () => undefined);
  await redis.connect();
  const requests: UpstashRequest[] = [];
  let answers: UpstashAnswer[] = [];
  let waits = { beforeMs: 0, afterMs: 0 };
  let writes = 0;

  async function carryOut(command: unknown): Promise<Result> {
    if (!isCommand(command)) return { error: 'ERR empty command' };
    const [name, ...args] = command.map(String) as [string, ...string[]];
    try {
      return { result: await redis.call(name, args) };
    } catch (error) {
      return { error: messageOf(error) };
    }
  }

  async function transaction(commands: readonly unknown[]): Promise<readonly Result[] | { readonly error: string }> {
    const multi = redis.multi();
    for (const command of commands) {
      const [name, ...args] = (command as readonly unknown[]).map(String) as [string, ...string[]];
      multi.call(name, ...args);
    }
    try {
      const results = (await multi.exec()) ?? [];
      return results.map(([error, result]) => (error === null ? { result } : { error: error.message }));
    } catch (error) {
      return { error: messageOf(error) };
    }
  }

  async function perform(path: string, body: unknown): Promise<readonly [status: number, answer: unknown]> {
    if (!Array.isArray(body)) return [400, { error: 'ERR failed to parse command' }];
    if (path === '/') {
      const result = await carryOut(body);
      return ['error' in result ? 400 : 200, result];
    }
    if (path === '/pipeline') return [200, await Promise.all(body.map(carryOut))];
    if (path === '/multi-exec') {
      const results = await transaction(body);
      return ['error' in results ? 400 : 200, results];
    }
    return [404, { error: 'Not Found' }];
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await bodyOf(request);
    const path = request.url ?? '/';
    const respond = (status: number, body: string, headers: Readonly<Record<string, string>> = {}): void => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(body);
    };
    if (request.method !== 'POST') return respond(405, JSON.stringify({ error: 'Method Not Allowed' }));
    if (request.headers.authorization !== `Bearer ${token}`) {
      return respond(401, JSON.stringify({ error: 'WRONGPASS invalid or missing auth token' }));
    }
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      return respond(400, JSON.stringify({ error: 'ERR failed to parse command' }));
    }
    requests.push({ path, headers: request.headers, body });
    const instead = answers.shift();
    if (instead !== undefined && instead.run !== true) return respond(instead.status, instead.body, instead.headers);
    if (waits.beforeMs > 0) await sleep(waits.beforeMs);
    const [status, answer] = await perform(path, body);
    writes += 1;
    if (waits.afterMs > 0) await sleep(waits.afterMs);
    if (instead !== undefined) return respond(instead.status, instead.body, instead.headers);
    const code = request.headers['upstash-encoding'] === 'base64' ? coded : (value: unknown): unknown => value;
    const one = (result: Result): Result => ('result' in result ? { result: code(result.result) } : result);
    const shaped = Array.isArray(answer) ? (answer as Result[]).map(one) : one(answer as Result);
    respond(status, JSON.stringify(shaped), { 'upstash-sync-token': `token-${writes}` });
  }

  const listener = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  listener.unref();
  const { port } = listener.address() as AddressInfo;

  return {
    port,
    url: `http://127.0.0.1:${port}`,
    token,
    requests,
    answer: (...next) => {
      answers = [...answers, ...next];
    },
    delay: ({ beforeMs = 0, afterMs = 0 }) => {
      waits = { beforeMs, afterMs };
    },
    stop: async () => {
      redis.disconnect();
      listener.closeAllConnections();
      await new Promise<void>((resolve) => listener.close(() => resolve()));
    },
  };
}
