/** What can happen to a Redis server, on a server of our own. */
import type { RedisServer } from '@limiter/test-servers';

export interface Trouble {
  readonly name: string;
  /** Before the limiter is made. */
  readonly atStart?: (server: RedisServer) => Promise<void>;
  readonly strike: (server: RedisServer) => Promise<void>;
  readonly heal: (server: RedisServer) => Promise<void>;
  /** The server forgets what was charged: one more budget, whoever asks. */
  readonly forgets: boolean;
}

const nothing = async (): Promise<void> => undefined;

/** A list where each hot key's value was. */
const IN_THE_WAY = `for _, key in ipairs(redis.call('KEYS', '*hot:*')) do
  redis.call('DEL', key)
  redis.call('RPUSH', key, 'in the way')
end`;

export const TROUBLES: readonly Trouble[] = [
  {
    name: 'down at the start',
    atStart: (server) => server.kill(),
    strike: nothing,
    heal: (server) => server.restart(),
    forgets: false,
  },
  { name: 'killed', strike: (server) => server.kill(), heal: (server) => server.restart(), forgets: true },
  {
    name: 'stopped (SIGSTOP)',
    strike: async (server) => server.pause(),
    heal: async (server) => server.resume(),
    forgets: false,
  },
  { name: 'restarted', strike: (server) => server.restart(), heal: nothing, forgets: true },
  {
    name: 'SCRIPT FLUSH',
    strike: async (server) => void (await server.cli('SCRIPT', 'FLUSH')),
    heal: nothing,
    forgets: false,
  },
  {
    name: 'out of memory',
    strike: async (server) => void (await server.cli('CONFIG', 'SET', 'maxmemory', '1')),
    heal: async (server) => void (await server.cli('CONFIG', 'SET', 'maxmemory', '0')),
    forgets: false,
  },
  {
    name: 'read-only replica',
    strike: async (server) => void (await server.cli('REPLICAOF', '127.0.0.1', '1')),
    heal: async (server) => void (await server.cli('REPLICAOF', 'NO', 'ONE')),
    forgets: false,
  },
  {
    name: 'WRONGTYPE in the way',
    strike: async (server) => void (await server.cli('EVAL', IN_THE_WAY, '0')),
    heal: async (server) => void (await server.cli('FLUSHDB')),
    forgets: true,
  },
];
