/** A real Redis Cluster on loopback: three masters with a replica each, put together by hand, which is faster than redis-cli. */
import { freePort } from './free-port.js';
import type { RedisReply } from './redis-command.js';
import { startRedis } from './redis-server.js';
import type { RedisServer } from './server-process.js';
import { until } from './until.js';

const SLOTS = 16_384;
const MASTERS = 3;

export interface StartClusterOptions {
  /** How long a node must be silent before it counts as down: half the time of a failover. Default 2,000 ms. */
  readonly nodeTimeoutMs?: number | undefined;
  /** Further arguments for every node. */
  readonly args?: readonly string[] | undefined;
}

export interface RedisCluster {
  /** For ioredis: `new Cluster(nodes)`. */
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  /** At the start: 0, 1, 2 are masters; 3, 4, 5 the replicas of 0, 1, 2. */
  readonly servers: readonly RedisServer[];
  /** The master that serves a slot now. */
  masterOf(slot: number): Promise<RedisServer>;
  /** The slot of a key. */
  slotOf(key: string): Promise<number>;
  /** Opens the move of a slot: its keys may lie on both nodes and clients meet ASK. */
  beginMove(slot: number, to: RedisServer): Promise<void>;
  /** Carries the slot's keys over and closes the move: clients meet MOVED. */
  finishMove(slot: number, to: RedisServer): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the six nodes and resolves when all of them agree that the cluster is complete (3 to 5 s). */
export async function startCluster(options: StartClusterOptions = {}): Promise<RedisCluster> {
  const servers: RedisServer[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.stop()));
  };
  try {
    const starts = await Promise.allSettled(Array.from({ length: 2 * MASTERS }, () => startNode(options)));
    for (const start of starts) if (start.status === 'fulfilled') servers.push(start.value);
    for (const start of starts) if (start.status === 'rejected') throw start.reason;
    await assemble(servers);
    return cluster(servers, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startNode(options: StartClusterOptions): Promise<RedisServer> {
  const bus = await freePort();
  return startRedis({
    args: [
      ...['--cluster-enabled', 'yes', '--cluster-config-file', 'nodes.conf', '--cluster-port', `${bus}`],
      ...['--cluster-node-timeout', `${options.nodeTimeoutMs ?? 2000}`, '--repl-diskless-sync-delay', '0'],
      ...(options.args ?? []),
    ],
  });
}

async function assemble(servers: readonly RedisServer[]): Promise<void> {
  await Promise.all(
    servers.map(async (server, index) => {
      await server.cli('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
      if (index >= MASTERS) return;
      const from = Math.floor((index * SLOTS) / MASTERS);
      const to = Math.floor(((index + 1) * SLOTS) / MASTERS) - 1;
      await server.cli('CLUSTER', 'ADDSLOTSRANGE', from, to);
    }),
  );
  // Every node introduces itself to every other: waiting for gossip to spread the word would take seconds longer.
  const buses = await Promise.all(
    servers.map(async (server) => (await server.cli('CONFIG', 'GET', 'cluster-port')) as string[]),
  );
  for (const server of servers) {
    await Promise.all(
      servers.map((other, index) =>
        other === server ? undefined : server.cli('CLUSTER', 'MEET', '127.0.0.1', other.port, `${buses[index]?.[1]}`),
      ),
    );
  }
  const ids = await Promise.all(servers.map(async (server) => `${await server.cli('CLUSTER', 'MYID')}`));
  await until('every node knows the others', 15_000, async () => {
    const views = await Promise.all(servers.map(async (server) => `${await server.cli('CLUSTER', 'NODES')}`));
    return views.every((view) => ids.every((id) => view.includes(id)) && !view.includes('handshake'));
  });
  await Promise.all(
    servers.slice(MASTERS).map((server, index) => server.cli('CLUSTER', 'REPLICATE', ids[index] as string)),
  );
  await until('the cluster is complete', 15_000, async () => {
    const states = await Promise.all(servers.map(async (server) => `${await server.cli('CLUSTER', 'INFO')}`));
    if (!states.every((state) => state.includes('cluster_state:ok'))) return false;
    const links = await Promise.all(
      servers.slice(MASTERS).map(async (server) => `${await server.cli('INFO', 'replication')}`),
    );
    if (!links.every((link) => link.includes('master_link_status:up'))) return false;
    // A client asks any node for the map, so every node must list the replicas as replicas.
    const maps = await Promise.all(servers.map(async (server) => `${await server.cli('CLUSTER', 'NODES')}`));
    return maps.every((map) => map.split('\n').filter((line) => line.includes('slave')).length === MASTERS);
  });
}

function cluster(servers: readonly RedisServer[], stop: () => Promise<void>): RedisCluster {
  const running = (): RedisServer => servers.find((server) => server.pid !== 0) as RedisServer;

  async function masterOf(slot: number): Promise<RedisServer> {
    const ranges = (await running().cli('CLUSTER', 'SLOTS')) as readonly RedisReply[][];
    const range = ranges.find(([from, to]) => Number(from) <= slot && slot <= Number(to));
    const [, port] = (range?.[2] ?? []) as readonly RedisReply[];
    const found = servers.find((server) => server.port === Number(port));
    if (found === undefined) throw new Error(`no node serves slot ${slot}`);
    return found;
  }

  const idOf = async (server: RedisServer): Promise<string> => `${await server.cli('CLUSTER', 'MYID')}`;

  return {
    nodes: servers.map(({ port }) => ({ host: '127.0.0.1', port })),
    servers,
    masterOf,
    slotOf: async (key) => Number(await running().cli('CLUSTER', 'KEYSLOT', key)),
    beginMove: async (slot, to) => {
      const from = await masterOf(slot);
      await to.cli('CLUSTER', 'SETSLOT', slot, 'IMPORTING', await idOf(from));
      await from.cli('CLUSTER', 'SETSLOT', slot, 'MIGRATING', await idOf(to));
    },
    finishMove: async (slot, to) => {
      const from = await masterOf(slot);
      for (;;) {
        const keys = (await from.cli('CLUSTER', 'GETKEYSINSLOT', slot, 100)) as readonly string[];
        if (keys.length === 0) break;
        await from.cli('MIGRATE', '127.0.0.1', to.port, '', 0, 5000, 'KEYS', ...keys);
      }
      const id = await idOf(to);
      await to.cli('CLUSTER', 'SETSLOT', slot, 'NODE', id);
      await from.cli('CLUSTER', 'SETSLOT', slot, 'NODE', id);
      await Promise.all(servers.map((server) => server.cli('CLUSTER', 'SETSLOT', slot, 'NODE', id).catch(() => null)));
    },
    stop,
  };
}
