/**
 * node-redis (`redis` or `@redis/client`, version 5 and 6) as a client of the store: one server, with the same promises as over ioredis.
 * node-redis knows no "ready and greeted", waits for replies without an end, and names its errors by class only; this file
 * makes up for that.
 */
import type { ClientListener } from './client.js';
import type { Link, LinkHooks } from './link.js';
import type { AdaptedClient } from './link-maker.js';
import { watch } from './node-redis-link.js';
import { backoffMs, CONNECT_TIMEOUT_MS, DEAD_LINK_MS } from './safe-options.js';

/** The methods of a node-redis client that are called. */
export interface NodeRedisClient {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  readonly options: object;
  connect(): Promise<unknown>;
  destroy(): void;
  ref(): void;
  unref(): void;
  on(event: string, listener: ClientListener): unknown;
  off(event: string, listener: ClientListener): unknown;
  sendCommand(args: string[], options?: object): Promise<unknown>;
  // Declared without arguments: its own type is far narrower than what is passed, and different in every version.
  duplicate(): unknown;
}

export interface NodeRedisOptions {
  readonly keyPrefix?: string | Buffer | undefined;
  readonly socket?: object | undefined;
  readonly disableOfflineQueue?: boolean | undefined;
}

/**
 * @example
 * const client = createClient();
 * const store = redisStore(nodeRedis(client));
 */
export function nodeRedis(client: NodeRedisClient): AdaptedClient {
  const { disableOfflineQueue } = client.options as NodeRedisOptions;
  return {
    limiterLink: (shared, hooks) => (shared ? sharedLink(client, hooks) : ownLink(client, hooks)),
    unsafeToShare:
      disableOfflineQueue === true
        ? []
        : ['disableOfflineQueue (a call runs after its caller has given up; set it to true)'],
  };
}

function duplicateSafely(given: NodeRedisClient): NodeRedisClient {
  const options = given.options as NodeRedisOptions;
  const duplicate = given.duplicate as (overrides: object) => unknown;
  return duplicate.call(given, {
    disableOfflineQueue: true,
    commandsQueueMaxLength: undefined,
    commandOptions: undefined,
    clientSideCache: undefined,
    emitInvalidate: undefined,
    pingInterval: undefined,
    readonly: false,
    socket: {
      ...options.socket,
      connectTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: undefined,
      reconnectStrategy: backoffMs,
    },
  }) as NodeRedisClient;
}

function sharedLink(client: NodeRedisClient, hooks: LinkHooks): Link {
  const watched = watch(client, hooks, {
    open: () => undefined,
    renew: () => undefined,
    hold: () => undefined,
    close: async () => watched.stop(),
  });
  return watched.link;
}

function ownLink(given: NodeRedisClient, hooks: LinkHooks): Link {
  const client = duplicateSafely(given);
  let held = false;
  let closed = false;
  let watchdog: NodeJS.Timeout | undefined;
  let openedAt = 0;

  function open(): void {
    if (closed || client.isOpen) return;
    if (!held) client.unref();
    openedAt = performance.now();
    client.connect().catch(() => undefined);
    look();
  }

  function renew(): void {
    if (client.isOpen) client.destroy();
    open();
  }

  /** While something is owed (a connection, or an answer), looks whether it is owed for too long: then the link is dead. */
  function look(): void {
    if (watchdog !== undefined) return;
    watchdog = setInterval(() => {
      const owed = held && (!client.isReady || watched.inFlight() > 0);
      if (!owed) {
        clearInterval(watchdog);
        watchdog = undefined;
      } else if (performance.now() - Math.max(openedAt, watched.signAt()) >= DEAD_LINK_MS) {
        renew();
      }
    }, DEAD_LINK_MS / 4);
    watchdog.unref();
  }

  // The caller's client has ended: so does ours, until another call comes.
  let givenEnded = false;
  const sleep = (): void => {
    if (!held && client.isOpen) client.destroy();
  };
  const onGivenEnd: ClientListener = () => {
    givenEnded = true;
    sleep();
  };
  const onGivenReady: ClientListener = () => {
    givenEnded = false;
  };
  given.on('end', onGivenEnd);
  given.on('ready', onGivenReady);

  const watched = watch(client, hooks, {
    open,
    renew,
    hold(busy) {
      held = busy;
      if (busy) {
        client.ref();
        look();
      } else {
        client.unref();
        if (givenEnded) sleep();
      }
    },
    async close() {
      closed = true;
      watched.stop();
      given.off('end', onGivenEnd);
      given.off('ready', onGivenReady);
      clearInterval(watchdog);
      if (client.isOpen) client.destroy();
    },
  });
  if (given.isOpen) open();
  return watched.link;
}
