/** One command on one server over a connection of its own: what a test asks beside the client that it tests. */
import { Redis } from 'ioredis';

export type RedisReply = string | number | null | readonly RedisReply[];

/**
 * Sends one command and answers its reply; an error reply rejects. Nothing is retried and nothing is queued.
 *
 * @example await redisCommand(server.port, 'SET', 'a', '1') // 'OK'
 */
export async function redisCommand(
  port: number,
  ...command: readonly (string | number | Buffer)[]
): Promise<RedisReply> {
  const client = new Redis({
    host: '127.0.0.1',
    port,
    lazyConnect: true,
    enableReadyCheck: false,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const [name, ...args] = command;
    return (await client.call(String(name), args)) as RedisReply;
  } finally {
    client.disconnect();
  }
}
