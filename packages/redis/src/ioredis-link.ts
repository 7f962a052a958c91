/** One ioredis connection (single server or Sentinel) as a link: the store's own, made from the client that was handed in, or that client itself. */
import { type RedisClient, sendBy } from './client.js';
import type { Lane, Link, LinkHooks } from './link.js';
import { NotSent } from './link.js';
import { SAFE_OPTIONS } from './safe-options.js';

/** The socket below, as far as we touch it. ioredis keeps it in a public field that its types call internal. */
interface WithStream {
  readonly stream?: { readonly writable?: boolean; ref?(): void; unref?(): void } | null;
}
const streamOf = (client: RedisClient): WithStream['stream'] => (client as unknown as WithStream).stream;

/** Error replies carry this name in ioredis 5 and 6 and in iovalkey. */
export const isReplyError = (error: unknown): boolean => error instanceof Error && error.name === 'ReplyError';

export function keyPrefixOf(client: { readonly options: object }): string {
  const { keyPrefix } = client.options as { readonly keyPrefix?: string | Buffer | null };
  return keyPrefix === undefined || keyPrefix === null ? '' : keyPrefix.toString();
}

/** A connection whose readiness the store decides: connected, greeted, writable. */
export interface Connection {
  readonly lane: Lane;
  readonly trouble: unknown;
  open(): void;
  hold(busy: boolean): void;
  stop(): void;
}

/** Watches one ioredis connection. Of a `shared` one nothing is changed: not its life, not its socket. */
export function watchConnection(client: RedisClient, name: string, shared: boolean, hooks: LinkHooks): Connection {
  let greeted = false;
  let trouble: unknown;
  let busy = false;
  let session = 0;

  const writable = (): boolean => client.status === 'ready' && streamOf(client)?.writable !== false;

  async function send(command: string, args: readonly string[]): Promise<unknown> {
    if (!writable()) throw new NotSent(`Not connected to Redis (${client.status})`, { cause: trouble });
    return sendBy(client, command, args);
  }

  const lane: Lane = {
    name,
    get ready() {
      return greeted && writable();
    },
    send,
  };

  async function greet(): Promise<void> {
    session += 1;
    const mine = session;
    await hooks.greet(lane);
    if (mine !== session || !writable()) return;
    greeted = true;
    trouble = undefined;
    hooks.changed();
  }

  const onReady = (): void => void greet();
  const onDown = (): void => {
    session += 1;
    greeted = false;
    hooks.changed();
  };
  const onConnect = (): void => {
    if (!busy) streamOf(client)?.unref?.();
  };
  const onError = (error: unknown): void => {
    trouble = error;
  };

  client.on('ready', onReady);
  client.on('close', onDown);
  client.on('end', onDown);
  client.on('error', onError);
  if (!shared) client.on('connect', onConnect);
  if (client.status === 'ready') onReady();

  return {
    lane,
    get trouble() {
      return trouble;
    },
    open() {
      if (client.status !== 'wait' && client.status !== 'end') return;
      client.connect().catch(onError);
    },
    hold(isBusy) {
      busy = isBusy;
      if (shared) return;
      if (busy) streamOf(client)?.ref?.();
      else streamOf(client)?.unref?.();
    },
    stop() {
      client.off('ready', onReady);
      client.off('close', onDown);
      client.off('end', onDown);
      if (shared) client.off('error', onError);
      session += 1;
      greeted = false;
    },
  };
}

/**
 * @param given the caller's client. `shared`: use it itself. Otherwise a connection of our own is made with its options
 * and the safe ones over them; it is opened at once, unless the caller's client is told to wait (`lazyConnect`).
 */
export function ioredisLink(given: RedisClient, shared: boolean, hooks: LinkHooks): Link {
  const client = shared ? given : given.duplicate(SAFE_OPTIONS);
  const connection = watchConnection(client, '', shared, hooks);
  const { lane } = connection;
  let held = false;
  let reopening: NodeJS.Timeout | undefined;

  // The caller's client has ended: ours no longer keeps the process alive. It opens again should another call come.
  const onGivenEnd = (): void => {
    if (!held) client.disconnect();
  };
  // ioredis gives up for good when it cannot even begin (every sentinel unreachable, say): calls may still be waiting.
  const onEnd = (): void => {
    if (!held || reopening !== undefined) return;
    reopening = setTimeout(() => {
      reopening = undefined;
      if (held) connection.open();
    }, 500);
  };
  if (!shared) {
    given.on('end', onGivenEnd);
    client.on('end', onEnd);
    if ((given.options as { readonly lazyConnect?: boolean }).lazyConnect !== true) connection.open();
  }

  return {
    cluster: false,
    keyPrefix: shared ? '' : keyPrefixOf(given),
    lane: () => lane,
    open: () => {
      if (reopening === undefined) connection.open();
    },
    renew: () => {
      if (!shared && client.status === 'ready') client.disconnect(true);
    },
    hold(busy) {
      held = busy;
      connection.hold(busy);
    },
    isReply: isReplyError,
    get trouble() {
      return connection.trouble;
    },
    async close() {
      connection.stop();
      given.off('end', onGivenEnd);
      client.off('end', onEnd);
      clearTimeout(reopening);
      if (!shared) client.disconnect();
    },
  };
}
