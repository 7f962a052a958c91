/** A master, a replica and three sentinels that watch them: a failover takes about two seconds. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startRedis } from './redis-server.js';
import { type RedisServer, startServerProcess } from './server-process.js';
import { until } from './until.js';

export interface RedisSentinel {
  /** The name under which the sentinels know the master. */
  readonly name: string;
  /** For ioredis: `new Redis({ sentinels, name })`. */
  readonly sentinels: readonly { readonly host: string; readonly port: number }[];
  /** [first master, first replica]. */
  readonly servers: readonly RedisServer[];
  /** The server that the sentinels call master now. */
  master(): Promise<RedisServer>;
  stop(): Promise<void>;
}

const NAME = 'limiter';

/** Starts the group and resolves when every sentinel knows the replica and the other sentinels. */
export async function startSentinel(): Promise<RedisSentinel> {
  const started: RedisServer[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((server) => server.stop()));
  };
  try {
    const first = await startRedis({ args: ['--repl-diskless-sync-delay', '0'] });
    started.push(first);
    const second = await startRedis({
      args: ['--replicaof', `127.0.0.1 ${first.port}`, '--repl-diskless-sync-delay', '0'],
    });
    started.push(second);
    const sentinels = await Promise.all([1, 2, 3].map(() => startOneSentinel(first.port)));
    started.push(...sentinels);
    const watcher = sentinels[0] as RedisServer;
    await until('every sentinel knows the others and the replica', 20_000, async () => {
      const all = await Promise.all(sentinels.map((sentinel) => sentinel.cli('SENTINEL', 'MASTER', NAME)));
      return all.every((reply) => {
        const fields = reply as readonly string[];
        const value = (field: string): string | undefined => fields[fields.indexOf(field) + 1];
        return value('num-other-sentinels') === '2' && value('num-slaves') === '1' && value('flags') === 'master';
      });
    });
    await until('the replica is in step', 10_000, async () =>
      `${await second.cli('INFO', 'replication')}`.includes('master_link_status:up'),
    );
    return {
      name: NAME,
      sentinels: sentinels.map(({ port }) => ({ host: '127.0.0.1', port })),
      servers: [first, second],
      master: async () => {
        const [, port] = (await watcher.cli('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME)) as readonly string[];
        return first.port === Number(port) ? first : second;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A sentinel rewrites its configuration file, so it gets one of its own. */
function startOneSentinel(master: number): Promise<RedisServer> {
  return startServerProcess({
    args: (port, dir) => {
      const file = join(dir, 'sentinel.conf');
      const lines = [
        `port ${port}`,
        'bind 127.0.0.1',
        `dir ${dir}`,
        `sentinel monitor ${NAME} 127.0.0.1 ${master} 2`,
        `sentinel down-after-milliseconds ${NAME} 500`,
        `sentinel failover-timeout ${NAME} 2000`,
        `sentinel parallel-syncs ${NAME} 1`,
      ];
      writeFileSync(file, `${lines.join('\n')}\n`);
      return [file, '--sentinel'];
    },
  });
}
