/** The public face of @limiter/redis; reading it is reading the API. */
export type { ClusterClient, RedisClient } from './client.js';
export type { AdaptedClient, RedisStoreClient } from './link-maker.js';
export { type NodeRedisClient, nodeRedis } from './node-redis.js';
export { type RedisStoreOptions, redisStore } from './redis-store.js';
export type { RedisStore } from './store-over.js';
export type { RedisWarning, RedisWarningCode } from './warnings.js';
