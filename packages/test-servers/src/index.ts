/** Real servers for tests: they start in milliseconds on free loopback ports and never outlive the test process. */
export { type ClockShim, clockShim } from './clock-shim.js';
export { freePort } from './free-port.js';
export { type ProxyCounts, startProxy, type TcpProxy } from './proxy.js';
export { type RedisCluster, type StartClusterOptions, startCluster } from './redis-cluster.js';
export { type RedisReply, redisCommand } from './redis-command.js';
export { type RedisSentinel, startSentinel } from './redis-sentinel.js';
export { type StartRedisOptions, startRedis } from './redis-server.js';
export type { Preload, RedisServer } from './server-process.js';
export { until } from './until.js';
export { startUpstash, type UpstashAnswer, type UpstashRequest, type UpstashServer } from './upstash-server.js';
