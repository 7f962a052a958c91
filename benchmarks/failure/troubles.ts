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

async function wrongTypes(server: RedisServer): Promise<void> {
  const keys = (await server.cli('KEYS', '*')) as readonly (string | Buffer)[];
  const names = keys.map(String).filter((key) => key.includes('hot:'));
  for (const key of names) {
    await server.cli('DEL', key);
    await server.cli('RPUSH', key, 'in the way');
  }
}

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
    strike: wrongTypes,
    heal: async (server) => void (await server.cli('FLUSHDB')),
    forgets: true,
  },
];
