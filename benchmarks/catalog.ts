/** Every case: which program, which part of it, with which arguments of Node. Each runs in a process of its own. */

export interface Case {
  readonly id: string;
  readonly program: string;
  readonly part: string;
  readonly nodeArgs?: readonly string[];
  /** Killed after this; default 120 s. */
  readonly limitMs?: number;
}

function parts(group: string, program: string, names: readonly string[], more: Partial<Case> = {}): Case[] {
  return names.map((part) => ({ id: `${group} ${part}`.trim(), program: `cases/${program}.ts`, part, ...more }));
}

const SPEEDS = [
  'hot-allowed',
  'hot-denied',
  'three-allowed',
  'three-denied',
  'async-allowed',
  'async-denied',
  'random-allowed',
];
const BYTES = [
  'ours, one window',
  'ours, one bucket',
  'ours, three windows',
  'ours, three buckets',
  'rate-limiter-flexible',
  'rate-limiter-flexible, union of 3',
  'express-rate-limit MemoryStore',
  'limiter, a TokenBucket a key',
  'a Map by hand',
];

export const CASES: readonly Case[] = [
  ...parts('exact', 'exact', ['']),
  ...parts('memory', 'memory-speed', SPEEDS),
  ...parts('memory bytes:', 'memory-bytes', BYTES, { nodeArgs: ['--expose-gc'] }),
  ...parts('memory profile', 'memory-profile', [''], {
    nodeArgs: ['--expose-gc', '--min-semi-space-size=64', '--max-semi-space-size=64'],
  }),
  ...parts('growth', 'growth-memory', ['keys', 'limits', 'log']),
  ...parts('redis', 'redis-speed', ['one', 'three', 'latency', 'hot', 'denied']),
  ...parts('redis cost', 'redis-cost', ['alone', 'many', 'logs', 'refunds']),
  ...parts('redis bytes', 'redis-bytes', ['']),
  ...parts('growth', 'redis-processes', ['processes']),
  ...parts('sqlite', 'sqlite-speed', ['allowed 1', 'denied 1', 'allowed 3', 'denied 3']),
  ...parts('sqlite', 'sqlite-growth', ['log', 'processes']),
  ...parts('algorithms', 'algorithms', ['']),
  ...parts('size', 'size', ['']),
  ...parts('replay', 'replay-speed', [''], { limitMs: 240_000 }),
];
