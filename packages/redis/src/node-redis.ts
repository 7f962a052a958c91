/**
 * node-redis (`redis` or `@redis/client`, version 5 and 6) as a client of the store: one server, with the same promises as over ioredis.
 * node-redis knows no "ready and greeted", waits for replies without an end, and names its errors by class only; this file
 * makes up for that.
 */
import { SCRIPT_COMMANDS } from './client.js';
import { messageOf } from './faults.js';
import { type Lane, type Link, type LinkHooks, NotSent } from './link.js';
import type { AdaptedClient } from './link-maker.js';
import { backoffMs, CONNECT_TIMEOUT_MS, DEAD_LINK_MS } from './safe-options.js';

/** RESP type `$`: a string of bytes. */
const AS_BYTES = { typeMapping: { 36: Buffer } };
const AS_TEXT = { typeMapping: {} };

type Listener = (...args: unknown[]) => void;

/** The methods of a node-redis client that are called. */
export interface NodeRedisClient {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  readonly options: object;
  connect(): Promise<unknown>;
  destroy(): void;
  ref(): void;
  unref(): void;
  on(event: string, listener: Listener): unknown;
  off(event: string, listener: Listener): unknown;
  sendCommand(args: string[], options?: object): Promise<unknown>;
  // Declared without arguments: its own type is far narrower than what is passed, and different in every version.
  duplicate(): unknown;
}

interface NodeRedisOptions {
  readonly keyPrefix?: string | Buffer | undefined;
  readonly socket?: object | undefined;
  readonly disableOfflineQueue?: boolean | undefined;
}

/** Error replies begin with a word in capitals (`ERR ...`, `NOSCRIPT ...`); the driver's own errors do not. */
const isReply = (error: unknown): boolean => /^[A-Z][A-Z0-9_]+( |$)/.test(messageOf(error));

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

interface Watched {
  readonly link: Link;
  readonly inFlight: () => number;
  /** performance.now() of the last sign of life: a reply, an event, or the first send after a quiet time. */
  readonly signAt: () => number;
  stop(): void;
}

function watch(
  client: NodeRedisClient,
  hooks: LinkHooks,
  parts: Pick<Link, 'open' | 'renew' | 'hold' | 'close'>,
): Watched {
  let greeted = false;
  let session = 0;
  let trouble: unknown;
  let inFlight = 0;
  let signAt = performance.now();

  const lane: Lane = {
    name: '',
    get ready() {
      return greeted && client.isReady;
    },
    async send(command, args) {
      if (!client.isReady) throw new NotSent('Not connected to Redis', { cause: trouble });
      if (inFlight === 0) signAt = performance.now();
      inFlight += 1;
      try {
        return await client.sendCommand([command, ...args], SCRIPT_COMMANDS.has(command) ? AS_BYTES : AS_TEXT);
      } catch (error) {
        if (messageOf(error) === 'The queue is full')
          throw new NotSent('The client takes no more commands', { cause: error });
        throw error;
      } finally {
        inFlight -= 1;
        signAt = performance.now();
      }
    },
  };

  async function greet(): Promise<void> {
    session += 1;
    const mine = session;
    await hooks.greet(lane);
    if (mine !== session || !client.isReady) return;
    greeted = true;
    trouble = undefined;
    hooks.changed();
  }

  const onReady = (): void => void greet();
  const onSign = (): void => {
    signAt = performance.now();
  };
  const onDown = (error?: unknown): void => {
    onSign();
    if (error !== undefined) trouble = error;
    if (client.isReady) return;
    session += 1;
    greeted = false;
    hooks.changed();
  };
  const onError: Listener = (error) => onDown(error);
  const onGone: Listener = () => onDown();
  client.on('connect', onSign);
  client.on('ready', onReady);
  client.on('error', onError);
  client.on('reconnecting', onGone);
  client.on('end', onGone);
  if (client.isReady) onReady();

  const { keyPrefix } = client.options as NodeRedisOptions;
  return {
    inFlight: () => inFlight,
    signAt: () => signAt,
    link: {
      ...parts,
      cluster: false,
      // A command that is sent as a list of words gets no prefix from the driver.
      keyPrefix: keyPrefix === undefined ? '' : keyPrefix.toString(),
      lane: () => lane,
      isReply,
      get trouble() {
        return trouble;
      },
    },
    stop() {
      session += 1;
      greeted = false;
      client.off('connect', onSign);
      client.off('ready', onReady);
      client.off('reconnecting', onGone);
      client.off('end', onGone);
    },
  };
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
  const onGivenEnd: Listener = () => {
    givenEnded = true;
    sleep();
  };
  const onGivenReady: Listener = () => {
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
