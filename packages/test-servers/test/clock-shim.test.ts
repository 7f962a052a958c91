import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ClockShim, clockShim, type RedisServer, startRedis } from '../src/index.js';

let clock: ClockShim;
let server: RedisServer;

beforeAll(async () => {
  clock = await clockShim();
  server = await startRedis({ preload: clock });
});
afterAll(async () => {
  await server.stop();
  clock.close();
});

async function aheadMs(): Promise<number> {
  const [seconds, micros] = (await server.cli('TIME')) as readonly string[];
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000) - Date.now();
}

it.each([0, 3_600_000, -3_600_000, -1_500, 0])(
  'TIME is %i ms away from the real clock as soon as it is told',
  async (ms) => {
    clock.offsetMs = ms;
    expect(clock.offsetMs).toBe(ms);
    expect(Math.abs((await aheadMs()) - ms)).toBeLessThan(100);
  },
);

it('TIME in a script and the expiry of keys follow', async () => {
  clock.offsetMs = 0;
  await server.cli('SET', 'a', '1', 'PX', 60_000);
  clock.offsetMs = 61_000;
  expect(await server.cli('GET', 'a')).toBeNull();
  const seconds = Number(await server.cli('EVAL', "return redis.call('TIME')[1]", 0));
  expect(Math.abs(seconds * 1000 - Date.now() - 61_000)).toBeLessThan(1100);
});
