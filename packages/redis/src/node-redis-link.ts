/** One connection of node-redis as a link: when it is ready and greeted, what its replies are, and when it last gave a sign of life. */
import { type ClientListener, SCRIPT_COMMANDS } from './client.js';
import { messageOf } from './faults.js';
import { type Lane, type Link, type LinkHooks, NotSent } from './link.js';
import type { NodeRedisClient, NodeRedisOptions } from './node-redis.js';

/** RESP type `$`: a string of bytes. */
const AS_BYTES = { typeMapping: { 36: Buffer } };
const AS_TEXT = { typeMapping: {} };

/** Error replies begin with a word in capitals (`ERR ...`, `NOSCRIPT ...`); the driver's own errors do not. */
const isReply = (error: unknown): boolean => /^[A-Z][A-Z0-9_]+( |$)/.test(messageOf(error));

export interface Watched {
  readonly link: Link;
  readonly inFlight: () => number;
  /** performance.now() of the last sign of life: a reply, an event, or the first send after a quiet time. */
  readonly signAt: () => number;
  stop(): void;
}

export function watch(
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
  const onError: ClientListener = (error) => onDown(error);
  const onGone: ClientListener = () => onDown();
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
