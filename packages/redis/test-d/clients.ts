/** Clients that must fit without a cast. */
import { createClient } from '@redis/client';
import { Cluster, Redis } from 'ioredis';
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5';
import { Redis as Valkey, Cluster as ValkeyCluster } from 'iovalkey';
import type { ClusterClient, RedisClient } from '../src/client.js';
import { nodeRedis } from '../src/index.js';

declare function takes(client: RedisClient | ClusterClient): void;

takes(new Redis());
takes(new Redis({ replyMapping: 'resp3' }));
takes(new Redis5());
takes(new Cluster([]));
takes(new Cluster5([]));
takes(new Valkey());
takes(new ValkeyCluster([]));
nodeRedis(createClient());
nodeRedis(createClient({ RESP: 2 }));

// @ts-expect-error a client without duplicate() and the rest is none
takes({ get: async () => null });
