/** A real redis-server on a free loopback port, with a folder of its own and nothing of it left afterwards. */
import { type Preload, type RedisServer, startServerProcess } from './server-process.js';

export interface StartRedisOptions {
  /** Further arguments: `['--maxmemory', '2mb']`. They come last and win. */
  readonly args?: readonly string[] | undefined;
  /** For instance a clockShim(). */
  readonly preload?: Preload | undefined;
  /** Default: a free one. */
  readonly port?: number | undefined;
}

/**
 * Starts `redis-server` without persistence and resolves when it answers PING (about 50 ms).
 *
 * @throws with the install line when there is no redis-server, with the server's own words when it does not start.
 * @example
 * const server = await startRedis({ args: ['--maxmemory', '2mb'] });
 * await server.cli('SET', 'a', '1');
 * await server.stop();
 */
export function startRedis(options: StartRedisOptions = {}): Promise<RedisServer> {
  return startServerProcess({
    port: options.port,
    preload: options.preload,
    args: (port, dir) => [
      ...['--port', `${port}`, '--bind', '127.0.0.1', '--dir', dir, '--daemonize', 'no', '--logfile', ''],
      ...['--save', '', '--appendonly', 'no', ...(options.args ?? [])],
    ],
  });
}
