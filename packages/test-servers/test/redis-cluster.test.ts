import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RedisCluster, startCluster, until } from '../src/index.js';

let cluster: RedisCluster;
let tookMs = 0;

beforeAll(async () => {
  const start = Date.now();
  cluster = await startCluster();
  tookMs = Date.now() - start;
});
afterAll(() => cluster.stop());

it('three masters serve all slots, each with a replica, soon', async () => {
  console.log(`cluster of six ready after ${tookMs} ms`);
  expect(tookMs).toBeLessThan(15_000);
  const info = `${await cluster.servers[0]?.cli('CLUSTER', 'INFO')}`;
  expect(info).toContain('cluster_state:ok');
  expect(info).toContain('cluster_slots_ok:16384');
  expect(info).toContain('cluster_known_nodes:6');
  expect(await cluster.masterOf(0)).toBe(cluster.servers[0]);
  expect(await cluster.masterOf(16_383)).toBe(cluster.servers[2]);
});

it('a slot moves with its keys; in between the source answers ASK for what it does not have', async () => {
  const slot = await cluster.slotOf('{tag}a');
  const from = await cluster.masterOf(slot);
  const to = cluster.servers.slice(0, 3).find((server) => server !== from) as (typeof cluster.servers)[number];
  await from.cli('SET', '{tag}a', '1');
  await cluster.beginMove(slot, to);
  await expect(from.cli('GET', '{tag}b')).rejects.toThrow(/^ASK /);
  expect(await from.cli('GET', '{tag}a')).toBe('1');
  await cluster.finishMove(slot, to);
  await expect(from.cli('GET', '{tag}a')).rejects.toThrow(/^MOVED /);
  expect(await to.cli('GET', '{tag}a')).toBe('1');
  expect(await cluster.masterOf(slot)).toBe(to);
});

it('a replica takes over from a killed master', async () => {
  const master = await cluster.masterOf(16_383);
  const replica = cluster.servers[5] as (typeof cluster.servers)[number];
  await master.kill();
  await until('the replica is master', 15_000, async () => `${await replica.cli('ROLE')}`.startsWith('master'));
});
