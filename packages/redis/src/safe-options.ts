/** The connection options under which a step runs at most once and never late, and what is unsafe about others. */

/** Never longer than this between two tries to connect. */
const MAX_BACKOFF_MS = 400;
/** A server that owes an answer for this long is disconnected: the link may be dead, and only a new one can tell. */
export const DEAD_LINK_MS = 1000;
export const CONNECT_TIMEOUT_MS = 2000;

export const backoffMs = (times: number): number => Math.min(25 * 2 ** Math.min(times, 10), MAX_BACKOFF_MS);

/** What the store's own connection is made with, over the options of the client that was handed in. */
export const SAFE_OPTIONS: Readonly<Record<string, unknown>> = {
  // At most once: what was sent and not answered is given up, not sent again.
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  reconnectOnError: null,
  // Never late: nothing waits inside the driver.
  enableOfflineQueue: false,
  enableAutoPipelining: false,
  commandTimeout: undefined,
  // Recovery: the store connects again by itself, with timers that keep no process alive; a silent link is replaced.
  retryStrategy: null,
  sentinelRetryStrategy: null,
  connectTimeout: CONNECT_TIMEOUT_MS,
  socketTimeout: DEAD_LINK_MS,
  enableReadyCheck: true,
  sentinelCommandTimeout: 1000,
  // Only the master may decide.
  role: 'master',
  readOnly: false,
  // The store opens it, and puts prefixes before its keys, by itself.
  lazyConnect: true,
  keyPrefix: '',
  monitor: false,
  stringNumbers: false,
  showFriendlyErrorStack: false,
  replyMapping: 'legacy',
  scripts: undefined,
  himportFieldsets: undefined,
};

/** The same for a Cluster: its own options, and those of the connections to its nodes. */
export const SAFE_CLUSTER_OPTIONS: Readonly<Record<string, unknown>> = {
  // At most once: after a lost link nothing is sent again. What MOVED and ASK redirect has not run.
  retryDelayOnFailover: 0,
  retryDelayOnClusterDown: 0,
  retryDelayOnMoved: 0,
  enableOfflineQueue: false,
  enableAutoPipelining: false,
  clusterRetryStrategy: null,
  slotsRefreshTimeout: DEAD_LINK_MS,
  slotsRefreshInterval: undefined,
  scaleReads: 'master',
  shardedSubscribers: false,
  lazyConnect: true,
  keyPrefix: '',
  showFriendlyErrorStack: false,
  scripts: undefined,
  himportFieldsets: undefined,
  redisOptions: SAFE_OPTIONS,
};

interface SharedOptions {
  readonly autoResendUnfulfilledCommands?: unknown;
  readonly enableOfflineQueue?: unknown;
  readonly enableAutoPipelining?: unknown;
  readonly reconnectOnError?: unknown;
  readonly commandTimeout?: unknown;
  readonly readOnly?: unknown;
}

/** Each option of a shared client that breaks a promise, with what it breaks. */
export function unsafeOptions(options: SharedOptions): readonly string[] {
  const found: string[] = [];
  if (options.autoResendUnfulfilledCommands !== false) {
    found.push('autoResendUnfulfilledCommands (a lost link charges twice; set it to false)');
  }
  return [...found, ...unsafeAnywhere(options)];
}

function unsafeAnywhere(options: SharedOptions): readonly string[] {
  const found: string[] = [];
  if (options.enableOfflineQueue !== false) {
    found.push('enableOfflineQueue (a call runs after its caller has given up; set it to false)');
  }
  if (options.enableAutoPipelining === true) {
    found.push('enableAutoPipelining (a call is sent later than it was decided to; set it to false)');
  }
  if (typeof options.reconnectOnError === 'function') {
    found.push('reconnectOnError (returning 2 sends a call again; leave it out)');
  }
  if (typeof options.commandTimeout === 'number') {
    found.push('commandTimeout (an answer that comes later is lost; leave it out)');
  }
  if (options.readOnly === true) found.push('readOnly (a replica cannot decide; leave it out)');
  return found;
}

interface SharedClusterOptions {
  readonly retryDelayOnFailover?: unknown;
  readonly enableOfflineQueue?: unknown;
  readonly enableAutoPipelining?: unknown;
  readonly redisOptions?: SharedOptions | undefined;
}

/** The connections to the nodes of a Cluster are never made again by themselves, so what they would resend is not asked. */
export function unsafeClusterOptions(options: SharedClusterOptions): readonly string[] {
  const found: string[] = [];
  if (options.retryDelayOnFailover !== 0) {
    found.push('retryDelayOnFailover (a lost link charges twice; set it to 0)');
  }
  const nodes = { ...options.redisOptions, enableOfflineQueue: options.enableOfflineQueue };
  return [...found, ...unsafeAnywhere({ ...nodes, enableAutoPipelining: options.enableAutoPipelining })];
}
