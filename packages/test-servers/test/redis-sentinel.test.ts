import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RedisSentinel, startSentinel, until } from '../src/index.js';

let group: RedisSentinel;
beforeAll(async () => {
  group = await startSentinel();
});
afterAll(() => group.stop());

it('the sentinels name the master, and after its death the promoted replica', async () => {
  const [first, second] = group.servers;
  expect(await group.master()).toBe(first);
  await first?.kill();
  await until('the replica is promoted', 15_000, async () => (await group.master()) === second);
  await until('it is master', 15_000, async () => `${await second?.cli('ROLE')}`.startsWith('master'));
});
