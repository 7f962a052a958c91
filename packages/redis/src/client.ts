/** The few methods of a client that the store calls, so that ioredis 5 and 6, iovalkey, and whatever is shaped like them fit. */
import type { Argument } from './link.js';

/** Events come with arguments that we look at one by one. */
export type ClientListener = (...args: unknown[]) => void;

/** A Redis of ioredis >= 5 or iovalkey: one server, or a master found through Sentinel. */
export interface RedisClient {
  readonly status: string;
  readonly options: object;
  duplicate(override?: object): RedisClient;
  connect(): Promise<unknown>;
  disconnect(reconnect?: boolean): void;
  on(event: string, listener: ClientListener): unknown;
  off(event: string, listener: ClientListener): unknown;
  callBuffer(command: string, args: Argument[]): Promise<unknown>;
}

/** A Cluster of ioredis >= 5 or iovalkey. */
export interface ClusterClient {
  readonly isCluster: boolean;
  readonly status: string;
  readonly options: object;
  readonly slots: string[][];
  nodes(role?: 'all' | 'master' | 'slave'): RedisClient[];
  duplicate(startupNodes?: [], override?: object): ClusterClient;
  connect(): Promise<unknown>;
  disconnect(reconnect?: boolean): void;
  on(event: string, listener: ClientListener): unknown;
  off(event: string, listener: ClientListener): unknown;
  callBuffer(command: string, args: Argument[]): Promise<unknown>;
}

/**
 * Sends a command through the method of its name, `evalshaBuffer` for `evalsha`: `callBuffer('evalsha', [...])` loses the
 * command's name where automatic pipelining is on (ioredis 5 and 6).
 */
export function sendBy(
  client: RedisClient | ClusterClient,
  command: string,
  args: readonly Argument[],
): Promise<unknown> {
  const methods = client as unknown as Record<string, (...args: Argument[]) => Promise<unknown>>;
  const method = methods[`${command}Buffer`];
  if (method === undefined) return client.callBuffer(command, [...args]);
  return method.apply(client, args as Argument[]);
}
