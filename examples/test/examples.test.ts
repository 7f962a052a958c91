import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  type RedisCluster,
  type RedisServer,
  startCluster,
  startRedis,
  startUpstash,
  type UpstashServer,
} from '@limiter/test-servers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const here = join(import.meta.dirname, '..');
const OUTPUT = `5 files: true; left: device 0, org 15
1 more: false, says device; the org still has 15
come back in 2 s
1 again: true; the org has 14
the first upload failed: the org gets 5 back and has 19
`;

/** The program as its README says to run it, in a process of its own. */
async function run(name: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const manifest = JSON.parse(await readFile(join(here, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const [program, ...args] = (manifest.scripts[name] ?? '').split(' ');
  if (program !== 'node') throw new Error(`examples/package.json has no program ${name}`);
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: here, env: { ...process.env, ...env } });
  return stdout;
}

let server: RedisServer;
let cluster: RedisCluster;
let upstash: UpstashServer;
let folder: string;
beforeAll(async () => {
  [server, cluster, folder] = await Promise.all([startRedis(), startCluster(), mkdtemp(join(tmpdir(), 'limiter-'))]);
  upstash = await startUpstash(server);
});
afterAll(async () => {
  await upstash.stop();
  await Promise.all([server.stop(), cluster.stop(), rm(folder, { recursive: true })]);
});

describe('the same program says the same', () => {
  it('in memory', async () => {
    expect(await run('memory')).toBe(OUTPUT);
  });

  it('in SQLite', async () => {
    expect(await run('sqlite', { SQLITE_FILE: join(folder, 'limits.db') })).toBe(OUTPUT);
  });

  it('in Redis', async () => {
    expect(await run('redis', { REDIS_URL: server.url })).toBe(OUTPUT);
  });

  it('in a Redis Cluster', async () => {
    expect(await run('redis-cluster', { REDIS_CLUSTER_URL: cluster.servers[0]?.url ?? '' })).toBe(OUTPUT);
  });

  it('in Upstash, or what stands in for it', async () => {
    const { url, token } = upstash;
    expect(await run('upstash', { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token })).toBe(OUTPUT);
  });
});

it('the README shows that output', async () => {
  expect(await readFile(join(here, 'README.md'), 'utf8')).toContain(OUTPUT);
});
