import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type RedisServer, startProxy, startRedis, type TcpProxy } from '../src/index.js';

let server: RedisServer;
let proxy: TcpProxy;
const sockets: Socket[] = [];

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());
beforeEach(async () => {
  await server.cli('FLUSHALL');
  proxy = await startProxy(server);
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await proxy.stop();
});

interface Line {
  readonly socket: Socket;
  readonly said: () => string;
  readonly closed: () => boolean;
}

async function open(): Promise<Line> {
  const socket = connect({ port: proxy.port, host: '127.0.0.1', allowHalfOpen: true });
  sockets.push(socket);
  let text = '';
  let ended = false;
  socket.on('data', (data: Buffer) => {
    text += data.toString();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    ended = true;
  });
  await new Promise<void>((resolve) => {
    socket.once('connect', resolve);
    socket.once('close', () => resolve());
  });
  return { socket, said: () => text, closed: () => ended };
}

it('passes everything on and counts it', async () => {
  const line = await open();
  line.socket.write('INCR n\r\n');
  await sleep(30);
  expect(line.said()).toBe(':1\r\n');
  expect(proxy.counts).toEqual({ connections: 1, open: 1, forwarded: 1, dropped: 0, cut: 0 });
});

it('cuts after the send: the server has done it, the client never hears', async () => {
  const line = await open();
  proxy.cutAfterSend({ when: (data) => data.includes('INCR') });
  line.socket.write('PING\r\n');
  await sleep(30);
  line.socket.write('INCR n\r\n');
  await sleep(50);
  expect(line.closed()).toBe(true);
  expect(line.said()).toBe('+PONG\r\n');
  expect(await server.cli('GET', 'n')).toBe('1');
  expect(proxy.counts.cut).toBe(1);
});

it('cuts before the send: the server has seen nothing', async () => {
  const line = await open();
  proxy.cutBeforeSend();
  line.socket.write('INCR n\r\n');
  await sleep(50);
  expect(line.closed()).toBe(true);
  expect(await server.cli('GET', 'n')).toBeNull();
});

it('delays', async () => {
  const line = await open();
  proxy.delay({ upMs: 60, downMs: 60 });
  line.socket.write('PING\r\n');
  await sleep(80);
  expect(line.said()).toBe('');
  await sleep(100);
  expect(line.said()).toBe('+PONG\r\n');
});

it('drops replies only, or everything, with the sockets open', async () => {
  const line = await open();
  proxy.drop('down');
  line.socket.write('INCR n\r\n');
  await sleep(50);
  proxy.drop('both');
  line.socket.write('INCR n\r\n');
  await sleep(50);
  expect(line.said()).toBe('');
  expect(line.closed()).toBe(false);
  expect(await server.cli('GET', 'n')).toBe('1');
});

it('half-closes: the client reads the end and may still write', async () => {
  const line = await open();
  let end = false;
  line.socket.on('end', () => {
    end = true;
  });
  await sleep(20);
  proxy.halfClose();
  await sleep(30);
  expect(end).toBe(true);
  line.socket.write('INCR n\r\n');
  await sleep(30);
  expect(await server.cli('GET', 'n')).toBe('1');
});

it('refuses new connections and cuts the open ones until it is healed', async () => {
  const line = await open();
  proxy.refuse();
  proxy.cut();
  await sleep(30);
  expect(line.closed()).toBe(true);
  const second = await open();
  await sleep(30);
  expect(second.closed()).toBe(true);
  proxy.heal();
  const third = await open();
  third.socket.write('PING\r\n');
  await sleep(30);
  expect(third.said()).toBe('+PONG\r\n');
});
