/**
 * An ioredis Cluster as a link. The Cluster knows which node serves which slot and follows MOVED and ASK (which prove that nothing
 * ran); this file decides when a node is ready, opens it again after a loss, and asks for the map when a slot has no ready node.
 */
import { type ClusterClient, type RedisClient, SCRIPT_COMMANDS, sendBy } from './client.js';
import { type Connection, isReplyError, keyPrefixOf, watchConnection } from './ioredis-link.js';
import { type Lane, type Link, type LinkHooks, NotSent } from './link.js';
import { reopening } from './reopening.js';
import { SAFE_CLUSTER_OPTIONS } from './safe-options.js';

/** A map that is missing or old is asked for at most this often. */
const REFRESH_MS = 200;

interface Nodes {
  lane(slot: number): Lane;
  open(slot: number): void;
  openMasters(): void;
  hold(busy: boolean): void;
  readonly trouble: unknown;
  stop(): void;
}

function keyOfNode(node: RedisClient): string {
  const { host = '127.0.0.1', port = 6379 } = node.options as { readonly host?: string; readonly port?: number };
  return `${host}:${port}`;
}

function watchNodes(cluster: ClusterClient, shared: boolean, hooks: LinkHooks): Nodes {
  const connections = new Map<
    string,
    { readonly node: RedisClient; readonly connection: Connection; readonly lane: Lane }
  >();
  const nowhere: Lane = {
    name: 'nowhere',
    ready: false,
    send: async () => {
      throw new NotSent('No node serves this slot at present', { cause: trouble });
    },
  };
  let trouble: unknown;
  let busy = false;
  let refreshedAt = Number.NEGATIVE_INFINITY;

  function laneOf(connection: Connection): Lane {
    const { lane } = connection;
    return {
      name: lane.name,
      get ready() {
        return cluster.status === 'ready' && lane.ready;
      },
      // A script goes through the Cluster, which redirects it; anything else is meant for this very node.
      send(command, args) {
        if (!SCRIPT_COMMANDS.has(command)) return lane.send(command, args);
        if (lane.ready) return sendBy(cluster, command, args);
        return Promise.reject(new NotSent('The node is not ready', { cause: trouble }));
      },
    };
  }

  const onAdded = (added: unknown): void => {
    const node = added as RedisClient;
    const name = keyOfNode(node);
    connections.get(name)?.connection.stop();
    const connection = watchConnection(node, name, shared, hooks);
    connection.hold(busy);
    connections.set(name, { node, connection, lane: laneOf(connection) });
  };
  const onRemoved = (removed: unknown): void => {
    const name = keyOfNode(removed as RedisClient);
    const known = connections.get(name);
    if (known === undefined || known.node !== removed) return;
    trouble = known.connection.trouble ?? trouble;
    known.connection.stop();
    connections.delete(name);
    hooks.changed();
  };
  const onNodeError = (error: unknown): void => {
    trouble = error;
  };
  const changed = (): void => hooks.changed();
  cluster.on('+node', onAdded);
  cluster.on('-node', onRemoved);
  cluster.on('node error', onNodeError);
  cluster.on('error', onNodeError);
  cluster.on('refresh', changed);
  cluster.on('ready', changed);
  for (const node of cluster.nodes('all')) onAdded(node);

  const at = (slot: number) => connections.get(cluster.slots[slot]?.[0] ?? '');

  return {
    lane: (slot) => at(slot)?.lane ?? nowhere,
    open(slot) {
      if (cluster.status !== 'ready') return;
      const known = at(slot);
      known?.connection.open();
      const now = performance.now();
      if (known !== undefined || now - refreshedAt < REFRESH_MS) return;
      refreshedAt = now;
      (cluster as unknown as { refreshSlotsCache?(): void }).refreshSlotsCache?.();
    },
    openMasters() {
      for (const node of cluster.nodes('master')) connections.get(keyOfNode(node))?.connection.open();
    },
    hold(isBusy) {
      busy = isBusy;
      for (const { connection } of connections.values()) connection.hold(isBusy);
    },
    get trouble() {
      return trouble;
    },
    stop() {
      cluster.off('+node', onAdded);
      cluster.off('-node', onRemoved);
      cluster.off('node error', onNodeError);
      cluster.off('refresh', changed);
      cluster.off('ready', changed);
      if (shared) cluster.off('error', onNodeError);
      for (const { connection } of connections.values()) connection.stop();
      connections.clear();
    },
  };
}

export function clusterLink(given: ClusterClient, shared: boolean, hooks: LinkHooks): Link {
  return shared ? sharedLink(given, hooks) : ownLink(given, hooks);
}

function sharedLink(cluster: ClusterClient, hooks: LinkHooks): Link {
  const nodes = watchNodes(cluster, true, hooks);
  return {
    cluster: true,
    keyPrefix: '',
    lane: nodes.lane,
    open: (slot) => {
      if (cluster.status === 'wait') cluster.connect().catch(() => undefined);
      nodes.open(slot);
    },
    renew: () => undefined,
    hold: () => undefined,
    isReply: isReplyError,
    get trouble() {
      return nodes.trouble;
    },
    close: async () => nodes.stop(),
  };
}

function ownLink(given: ClusterClient, hooks: LinkHooks): Link {
  const cluster = given.duplicate([], SAFE_CLUSTER_OPTIONS);
  const nodes = watchNodes(cluster, false, hooks);
  let held = false;
  let asleep = false;
  let closed = false;

  function connect(): void {
    if (closed || (cluster.status !== 'wait' && cluster.status !== 'end')) return;
    // What went wrong is told by events; the rejection only says that the connection is closed.
    cluster.connect().catch(() => undefined);
  }
  const again = reopening(connect);

  const sleep = (): void => {
    if (held || closed) return;
    asleep = true;
    again.cancel();
    if (cluster.status !== 'end') cluster.disconnect();
  };
  cluster.on('end', () => {
    if (!closed && !asleep) again.lost();
    hooks.changed();
  });
  cluster.on('ready', () => {
    again.made();
    nodes.openMasters();
  });
  given.on('end', sleep);
  if ((given.options as { readonly lazyConnect?: boolean }).lazyConnect !== true) connect();

  return {
    cluster: true,
    keyPrefix: keyPrefixOf(given),
    lane: nodes.lane,
    open(slot) {
      asleep = false;
      if (!again.due) connect();
      nodes.open(slot);
    },
    renew: () => undefined,
    hold(busy) {
      held = busy;
      nodes.hold(busy);
      again.hold(busy);
      if (!busy && given.status === 'end') sleep();
    },
    isReply: isReplyError,
    get trouble() {
      return nodes.trouble;
    },
    async close() {
      closed = true;
      again.cancel();
      nodes.stop();
      given.off('end', sleep);
      if (cluster.status !== 'end') cluster.disconnect();
    },
  };
}
