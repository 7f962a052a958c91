/**
 * A TCP proxy that can be made faulty on purpose. Faults that concern a request tell "sent" from "not sent": after
 * `cutAfterSend` the server has received the whole request and the client never sees the reply.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface ProxyCounts {
  /** Connections accepted since the start. */
  readonly connections: number;
  /** Of these, open now. */
  readonly open: number;
  /** Client writes passed on to the server. */
  readonly forwarded: number;
  /** Client writes thrown away. */
  readonly dropped: number;
  /** Connections that a fault has cut. */
  readonly cut: number;
}

export interface TcpProxy {
  readonly port: number;
  /** `redis://127.0.0.1:<port>` */
  readonly url: string;
  readonly counts: ProxyCounts;
  /** Passes the next `times` matching writes on to the server, waits for its reply, throws it away and cuts the client off. */
  cutAfterSend(options?: CutOptions): void;
  /** Throws the next `times` matching writes away and cuts the client off: the server has seen nothing of them. */
  cutBeforeSend(options?: CutOptions): void;
  /** Passes everything on `upMs` / `downMs` later. */
  delay(delays: { readonly upMs?: number; readonly downMs?: number }): void;
  /** Bytes vanish, sockets stay open: in one direction or in both. */
  drop(direction?: 'up' | 'down' | 'both'): void;
  /** Sends the client an end of stream on every open connection and still passes on what it writes. */
  halfClose(): void;
  /** Cuts every open connection with a reset. */
  cut(): void;
  /** New connections are reset at once, until heal(). */
  refuse(): void;
  /** Back to a faultless wire (what is cut stays cut). */
  heal(): void;
  stop(): Promise<void>;
}

export interface CutOptions {
  /** Default 1. */
  readonly times?: number | undefined;
  /** Which client writes are meant. Default: every one. `(data) => data.includes('EVALSHA')` */
  readonly when?: ((data: Buffer) => boolean) | undefined;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** The reply to what was just sent is to be thrown away, then the client cut off. */
  cutOnReply: boolean;
}

/**
 * @param target where to connect to: a RedisServer, or any `{ port }` on loopback.
 * @example
 * const proxy = await startProxy(server);
 * proxy.cutAfterSend({ when: (data) => data.includes('evalsha') });
 */
export async function startProxy(target: { readonly port: number }): Promise<TcpProxy> {
  const pairs = new Set<Pair>();
  const counts = { connections: 0, open: 0, forwarded: 0, dropped: 0, cut: 0 };
  const fault = { upMs: 0, downMs: 0, dropUp: false, dropDown: false, refuse: false };
  let armed: { kind: 'after' | 'before'; times: number; when: (data: Buffer) => boolean } | undefined;

  function cutOff(pair: Pair): void {
    if (!pairs.delete(pair)) return;
    counts.cut += 1;
    pair.client.resetAndDestroy();
    pair.server.destroy();
  }

  function later(ms: number, act: () => void): void {
    if (ms === 0) act();
    else setTimeout(act, ms).unref();
  }

  function pass(pair: Pair, to: Socket, data: Buffer): void {
    if (pairs.has(pair) && to.writable) to.write(data);
  }

  function fromClient(pair: Pair, data: Buffer): void {
    if (fault.dropUp) {
      counts.dropped += 1;
      return;
    }
    if (armed !== undefined && armed.times > 0 && armed.when(data)) {
      armed.times -= 1;
      if (armed.kind === 'before') {
        counts.dropped += 1;
        cutOff(pair);
        return;
      }
      pair.cutOnReply = true;
    }
    counts.forwarded += 1;
    later(fault.upMs, () => pass(pair, pair.server, data));
  }

  function fromServer(pair: Pair, data: Buffer): void {
    if (pair.cutOnReply) cutOff(pair);
    else if (!fault.dropDown) later(fault.downMs, () => pass(pair, pair.client, data));
  }

  const listener = createServer({ allowHalfOpen: true }, (client) => {
    counts.connections += 1;
    client.on('error', () => undefined);
    if (fault.refuse) {
      client.resetAndDestroy();
      return;
    }
    const server = connect({ port: target.port, host: '127.0.0.1', allowHalfOpen: true });
    const pair: Pair = { client, server, cutOnReply: false };
    pairs.add(pair);
    counts.open += 1;
    client.setNoDelay(true);
    server.setNoDelay(true);
    client.on('data', (data: Buffer) => fromClient(pair, data));
    server.on('data', (data: Buffer) => fromServer(pair, data));
    client.on('end', () => server.end());
    server.on('end', () => client.end());
    server.on('error', () => client.resetAndDestroy());
    client.on('close', () => {
      pairs.delete(pair);
      counts.open -= 1;
      server.destroy();
    });
    server.on('close', () => client.destroySoon());
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  listener.unref();
  const { port } = listener.address() as AddressInfo;

  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    get counts() {
      return { ...counts };
    },
    cutAfterSend: ({ times = 1, when = () => true } = {}) => {
      armed = { kind: 'after', times, when };
    },
    cutBeforeSend: ({ times = 1, when = () => true } = {}) => {
      armed = { kind: 'before', times, when };
    },
    delay: ({ upMs = 0, downMs = 0 }) => {
      fault.upMs = upMs;
      fault.downMs = downMs;
    },
    drop: (direction = 'both') => {
      fault.dropUp = direction !== 'down';
      fault.dropDown = direction !== 'up';
    },
    halfClose: () => {
      for (const { client } of pairs) client.end();
    },
    cut: () => {
      for (const pair of [...pairs]) cutOff(pair);
    },
    refuse: () => {
      fault.refuse = true;
    },
    heal: () => {
      armed = undefined;
      Object.assign(fault, { upMs: 0, downMs: 0, dropUp: false, dropDown: false, refuse: false });
    },
    stop: async () => {
      for (const pair of [...pairs]) cutOff(pair);
      if (!listener.listening) return;
      await new Promise<void>((resolve) => listener.close(() => resolve()));
    },
  };
}
