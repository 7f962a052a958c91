/** Which driver a client is: an adapter says so itself, ioredis and what is shaped like it is recognised by the methods that we call. */
import { LimiterError } from '@limiter/core';
import type { ClusterClient, RedisClient } from './client.js';
import { clusterLink } from './cluster-link.js';
import { ioredisLink } from './ioredis-link.js';
import type { Link, LinkHooks } from './link.js';
import { unsafeClusterOptions, unsafeOptions } from './safe-options.js';
import type { RedisWarning } from './warnings.js';

export type LinkMaker = (hooks: LinkHooks, warn: (warning: RedisWarning) => void) => Link;

/** A client of another library, made to fit; see `nodeRedis`. */
export interface AdaptedClient {
  /** How a link over this client is made. `shared`: over the client itself. */
  readonly limiterLink: (shared: boolean, hooks: LinkHooks) => Link;
  /** What is unsafe about sharing it, each with its reason. */
  readonly unsafeToShare: readonly string[];
}

export type RedisStoreClient = RedisClient | ClusterClient | AdaptedClient;

const METHODS = ['duplicate', 'connect', 'disconnect', 'on', 'off', 'call', 'callBuffer'] as const;

function isAdapted(client: RedisStoreClient): client is AdaptedClient {
  return 'limiterLink' in client && typeof client.limiterLink === 'function';
}

/** @throws ERR_LIMITER_CLIENT when the client lacks what every driver has. */
export function linkMakerFor(client: RedisStoreClient, shared: boolean): LinkMaker {
  if (typeof client !== 'object' || client === null) throw unfit(`got ${String(client)}`);
  if (isAdapted(client)) {
    return (hooks, warn) => {
      if (shared) warnOfSharing(client.unsafeToShare, warn);
      return client.limiterLink(shared, hooks);
    };
  }
  const missing = METHODS.filter(
    (method) => typeof (client as unknown as Record<string, unknown>)[method] !== 'function',
  );
  if (missing.length > 0) throw unfit(`this one has no ${missing.join('(), no ')}()`);
  if ('isCluster' in client && client.isCluster === true) {
    const cluster = client as ClusterClient;
    return (hooks, warn) => {
      if (shared) warnOfSharing(unsafeClusterOptions(cluster.options), warn);
      return clusterLink(cluster, shared, hooks);
    };
  }
  const single = client as RedisClient;
  return (hooks, warn) => {
    if (shared) warnOfSharing(unsafeOptions(single.options), warn);
    return ioredisLink(single, shared, hooks);
  };
}

function unfit(detail: string): LimiterError {
  return new LimiterError(
    'ERR_LIMITER_CLIENT',
    `redisStore needs a client of ioredis (or iovalkey), or nodeRedis(client) for node-redis; ${detail}`,
  );
}

function warnOfSharing(unsafe: readonly string[], warn: (warning: RedisWarning) => void): void {
  if (unsafe.length === 0) return;
  warn({
    code: 'LIMITER_REDIS_SHARED_CONNECTION',
    message:
      `The Redis store shares a connection whose options break its promises: ${unsafe.join('; ')}. ` +
      `Leave out connection: 'shared', and the store opens a safe connection of its own.`,
  });
}
