import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { type RedisServer, startRedis, until } from '../src/index.js';

const servers: RedisServer[] = [];
async function start(options?: Parameters<typeof startRedis>[0]): Promise<RedisServer> {
  const server = await startRedis(options);
  servers.push(server);
  return server;
}
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

it('a server answers, keeps nothing on disk and is gone with its folder after stop', async () => {
  const server = await start();
  expect(await server.cli('SET', 'a', '1')).toBe('OK');
  expect(await server.cli('GET', 'a')).toBe('1');
  expect(await server.cli('CONFIG', 'GET', 'save')).toEqual(['save', '']);
  const { pid, dir } = server;
  expect(existsSync(dir)).toBe(true);
  await server.stop();
  await server.stop();
  expect(alive(pid)).toBe(false);
  expect(existsSync(dir)).toBe(false);
  expect(server.pid).toBe(0);
});

it('arguments of the caller win', async () => {
  const server = await start({ args: ['--maxmemory', '3mb', '--maxmemory-policy', 'allkeys-lru'] });
  expect(await server.cli('CONFIG', 'GET', 'maxmemory')).toEqual(['maxmemory', '3145728']);
});

it('an error reply rejects', async () => {
  const server = await start();
  await expect(server.cli('NOSUCH')).rejects.toThrow(/unknown command/);
});

it('a restarted server has the same port and an empty memory', async () => {
  const server = await start();
  const { port, pid } = server;
  await server.cli('SET', 'a', '1');
  await server.restart();
  expect(server.port).toBe(port);
  expect(server.pid).not.toBe(pid);
  expect(await server.cli('GET', 'a')).toBeNull();
});

it('a killed server refuses connections', async () => {
  const server = await start();
  await server.kill();
  await expect(server.cli('PING')).rejects.toThrow();
});

it('a paused server answers nothing until it is resumed', async () => {
  const server = await start();
  server.pause();
  let answered = false;
  const reply = server.cli('PING').then((pong) => {
    answered = true;
    return pong;
  });
  await sleep(100);
  expect(answered).toBe(false);
  server.resume();
  expect(await reply).toBe('PONG');
});

it('a server that cannot start says why', async () => {
  await expect(startRedis({ args: ['--maxmemory', 'nonsense'] })).rejects.toThrow(/did not start[\s\S]*maxmemory/);
});

it('a missing redis-server is one sentence with the line that installs it', async () => {
  const path = process.env['PATH'];
  process.env['PATH'] = '/nonexistent';
  try {
    await expect(startRedis()).rejects.toThrow('Install it with: sudo apt-get install redis-server');
  } finally {
    process.env['PATH'] = path;
  }
});

it('a server dies with the process that started it, even when that one is killed', async () => {
  const program = `
    import { startRedis } from ${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)};
    const server = await startRedis();
    console.log(JSON.stringify({ pid: server.pid, dir: server.dir }));
    setInterval(() => undefined, 1000);
  `;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [data] = (await once(child.stdout, 'data')) as [Buffer];
  const { pid, dir } = JSON.parse(data.toString()) as { pid: number; dir: string };
  expect(alive(pid)).toBe(true);
  child.kill('SIGKILL');
  await until('the server is gone', 3000, async () => !alive(pid) && !existsSync(dir));
});

it('a forgotten server does not keep its process alive', () => {
  const program = `
    import { startRedis } from ${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)};
    await startRedis();
    console.log('started');
  `;
  const said = execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
    timeout: 10_000,
  });
  expect(said.toString()).toBe('started\n');
});
