/** One ioredis connection (single server or Sentinel) as a link: the store's own, made from the client that was handed in, or that client itself. */
import { type RedisClient, sendBy } from './client.js';
import type { Lane, Link, LinkHooks } from './link.js';
import { NotSent } from './link.js';
import { reopening } from './reopening.js';
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

  function send(command: string, args: readonly string[]): Promise<unknown> {
    if (writable()) return sendBy(client, command, args);
    return Promise.reject(new NotSent(`Not connected to Redis (${client.status})`, { cause: trouble }));
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
      // What went wrong is told by the error event; the rejection only says that the connection is closed.
      client.connect().catch(() => undefined);
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
  return shared ? sharedLink(given, hooks) : ownLink(given, hooks);
}

function sharedLink(client: RedisClient, hooks: LinkHooks): Link {
  const connection = watchConnection(client, '', true, hooks);
  return {
    cluster: false,
    // The driver puts its prefix before the keys by itself.
    keyPrefix: '',
    lane: () => connection.lane,
    open: connection.open,
    renew: () => undefined,
    hold: () => undefined,
    isReply: isReplyError,
    get trouble() {
      return connection.trouble;
    },
    close: async () => connection.stop(),
  };
}

function ownLink(given: RedisClient, hooks: LinkHooks): Link {
  const client = given.duplicate(SAFE_OPTIONS);
  const connection = watchConnection(client, '', false, hooks);
  const again = reopening(connection.open);
  let held = false;
  let asleep = false;
  let closed = false;

  function open(): void {
    asleep = false;
    if (!again.due && !closed) connection.open();
  }

  // The caller's client has ended: so does ours, until another call comes.
  const sleep = (): void => {
    if (held || closed) return;
    asleep = true;
    again.cancel();
    if (client.status !== 'end') client.disconnect();
  };
  // Every lost connection ends here, since the driver is told not to connect again by itself.
  client.on('end', () => {
    if (!closed && !asleep) again.lost();
  });
  client.on('ready', again.made);
  given.on('end', sleep);
  if ((given.options as { readonly lazyConnect?: boolean }).lazyConnect !== true) open();

  return {
    cluster: false,
    keyPrefix: keyPrefixOf(given),
    lane: () => connection.lane,
    open,
    renew: () => {
      if (client.status === 'ready') client.disconnect(true);
    },
    hold(busy) {
      held = busy;
      connection.hold(busy);
      again.hold(busy);
      if (!busy && given.status === 'end') sleep();
    },
    isReply: isReplyError,
    get trouble() {
      return connection.trouble;
    },
    async close() {
      closed = true;
      connection.stop();
      given.off('end', sleep);
      again.cancel();
      if (client.status !== 'end') client.disconnect();
    },
  };
}
