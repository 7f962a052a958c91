/** Every client that the store is made for. */
import { createClient } from '@redis/client';
import { Cluster, Redis } from 'ioredis';
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5';
import { Redis as Valkey } from 'iovalkey';
import { nodeRedis } from '../../src/index.js';
import type { RedisStoreClient } from '../../src/link-maker.js';

export interface TestClient {
  readonly client: RedisStoreClient;
  end(): Promise<void>;
}

export interface Driver {
  readonly name: string;
  /** A client as an application would make it, with the driver's defaults. */
  connect(port: number): TestClient;
}

function testClient(client: Redis | Redis5 | Valkey): TestClient {
  // The application's own affair: without a listener ioredis prints every error.
  (client as Redis).on('error', () => undefined);
  return { client, end: async () => client.disconnect() };
}

export const drivers: readonly Driver[] = [
  { name: 'ioredis 6', connect: (port) => testClient(new Redis({ host: '127.0.0.1', port })) },
  { name: 'ioredis 5', connect: (port) => testClient(new Redis5({ host: '127.0.0.1', port })) },
  { name: 'iovalkey', connect: (port) => testClient(new Valkey({ host: '127.0.0.1', port })) },
  {
    name: 'node-redis',
    connect: (port) => {
      const client = createClient({ socket: { host: '127.0.0.1', port } });
      client.on('error', () => undefined);
      client.connect().catch(() => undefined);
      return { client: nodeRedis(client), end: async () => client.destroy() };
    },
  },
];

type Nodes = readonly { readonly host: string; readonly port: number }[];

export interface ClusterDriver {
  readonly name: string;
  /** @param natMap where to connect to instead: by 'host:port' of a node. */
  connect(nodes: Nodes, natMap?: Readonly<Record<string, Nodes[number]>>): TestClient;
}

function testCluster(client: Cluster | Cluster5): TestClient {
  (client as Cluster).on('error', () => undefined);
  return { client, end: async () => client.disconnect() };
}

export const clusterDrivers: readonly ClusterDriver[] = [
  { name: 'ioredis 6', connect: (nodes, natMap = {}) => testCluster(new Cluster([...nodes], { natMap })) },
  { name: 'ioredis 5', connect: (nodes, natMap = {}) => testCluster(new Cluster5([...nodes], { natMap })) },
];
