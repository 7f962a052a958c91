/** The few methods of a client that the store calls, so that ioredis 5 and 6, iovalkey, and whatever is shaped like them fit. */

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
  call(command: string, args: string[]): Promise<unknown>;
  /** The same, with bytes in place of text in the reply. */
  callBuffer(command: string, args: string[]): Promise<unknown>;
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
  call(command: string, args: string[]): Promise<unknown>;
  /** The same, with bytes in place of text in the reply. */
  callBuffer(command: string, args: string[]): Promise<unknown>;
}

/** Whose replies are bytes. */
export const SCRIPT_COMMANDS: ReadonlySet<string> = new Set(['evalsha', 'eval']);

/**
 * Sends a command through the method of its name: `call('evalsha', [...])` loses the command's name where automatic pipelining
 * is on (ioredis 5 and 6).
 */
export function sendBy(
  client: RedisClient | ClusterClient,
  command: string,
  args: readonly string[],
): Promise<unknown> {
  const methods = client as unknown as Record<string, (args: readonly string[]) => Promise<unknown>>;
  const asBytes = SCRIPT_COMMANDS.has(command);
  const method = methods[asBytes ? `${command}Buffer` : command];
  if (method !== undefined) return method.call(client, args);
  return asBytes ? client.callBuffer(command, [...args]) : client.call(command, [...args]);
}
