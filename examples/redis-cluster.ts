/** In a Redis Cluster: REDIS_CLUSTER_URL is one of its nodes, or the one on this machine. */
import { redisStore } from '@limiter/redis';
import { Cluster } from 'ioredis';
import { theProgram } from './the-program.js';

const cluster = new Cluster([process.env['REDIS_CLUSTER_URL'] ?? 'redis://127.0.0.1:7000']);
await theProgram(redisStore(cluster));
cluster.disconnect();
