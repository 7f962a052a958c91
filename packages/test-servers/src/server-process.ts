/** The life of one redis-server process (a data node or a sentinel): a port, a folder, a start, an end, nothing left. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.js';
import { forget, reap } from './reaper.js';
import { type RedisReply, redisCommand } from './redis-command.js';

/** What a preload library adds to the server's environment. */
export interface Preload {
  /** Path of the shared object that is loaded before libc. */
  readonly library: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface ServerProcessOptions {
  /** The command line, made anew for each start. */
  readonly args: (port: number, dir: string) => readonly string[];
  readonly preload?: Preload | undefined;
  /** Default: a free one. */
  readonly port?: number | undefined;
}

export interface RedisServer {
  readonly port: number;
  /** `redis://127.0.0.1:<port>` */
  readonly url: string;
  /** Of the process that runs now; 0 while none does. */
  readonly pid: number;
  /** The server's own folder; gone after stop(). */
  readonly dir: string;
  /** One command over a connection of its own; an error reply rejects. */
  cli(...command: readonly (string | number | Buffer)[]): Promise<RedisReply>;
  /** SIGKILL; port, folder and arguments are kept for restart(). */
  kill(): Promise<void>;
  /** SIGSTOP: the kernel still accepts connections and bytes, nobody answers. */
  pause(): void;
  /** SIGCONT. */
  resume(): void;
  /** kill(), then the same server again, empty unless its arguments make it persist. */
  restart(): Promise<void>;
  /** Ends the process and removes the folder. A second call does nothing. */
  stop(): Promise<void>;
  /** What the server wrote, the last 200 lines. */
  log(): string;
}

const MISSING = 'These tests need a real redis-server (>= 6.2). Install it with: sudo apt-get install redis-server';

/** Answers the first reply line of a PING, or undefined when nobody listens yet. */
function ping(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const end = (line: string | undefined): void => {
      socket.destroy();
      resolve(line);
    };
    socket.setTimeout(1000, () => end(undefined));
    socket.on('error', () => end(undefined));
    socket.on('connect', () => socket.write('PING\r\n'));
    socket.on('data', (data: Buffer) => end(data.toString()));
    socket.on('close', () => resolve(undefined));
  });
}

/**
 * Starts `redis-server` with these arguments and resolves when it answers PING.
 *
 * @throws with the install line when there is no redis-server, with the server's own words when it does not start.
 */
export async function startServerProcess(options: ServerProcessOptions): Promise<RedisServer> {
  const dir = await mkdtemp(join(tmpdir(), 'limiter-redis-'));
  let port = options.port ?? (await freePort());
  let child: ChildProcess | undefined;
  let lines: string[] = [];

  async function launch(): Promise<void> {
    const env = { ...process.env, ...options.preload?.env };
    if (options.preload !== undefined) env['LD_PRELOAD'] = options.preload.library;
    const started = spawn('redis-server', options.args(port, dir), { stdio: ['ignore', 'pipe', 'pipe'], env });
    let failed: Error | undefined;
    started.once('error', (error: NodeJS.ErrnoException) => {
      failed = error.code === 'ENOENT' ? new Error(MISSING, { cause: error }) : error;
    });
    for (const stream of [started.stdout, started.stderr]) {
      stream.on('data', (data: Buffer) => {
        lines = [...lines, ...data.toString().split('\n').filter(Boolean)].slice(-200);
      });
      (stream as unknown as { unref(): void }).unref();
    }
    started.unref();
    if (started.pid !== undefined) reap(started.pid, dir);
    child = started;
    const deadline = Date.now() + 10_000;
    while (Date.now() < deadline) {
      if (failed !== undefined) throw failed;
      if (started.exitCode !== null || started.signalCode !== null) break;
      const line = await ping(port);
      if (line !== undefined && !line.startsWith('-LOADING')) return;
      await sleep(5);
    }
    throw new Error(`redis-server did not start on port ${port}:\n${lines.join('\n')}`);
  }

  async function kill(): Promise<void> {
    const ending = child;
    child = undefined;
    if (ending?.pid === undefined) return;
    if (ending.exitCode === null && ending.signalCode === null) {
      const exited = once(ending, 'exit');
      ending.ref();
      ending.kill('SIGKILL');
      await exited;
    }
    forget(ending.pid);
  }

  async function stop(): Promise<void> {
    await kill();
    await rm(dir, { recursive: true, force: true });
  }

  async function start(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await launch();
      } catch (error) {
        await kill();
        const taken = /Address already in use/.test(lines.join('\n')) && options.port === undefined && attempt < 5;
        if (!taken) throw error;
        port = await freePort();
        lines = [];
      }
    }
  }

  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }

  return {
    get port() {
      return port;
    },
    get url() {
      return `redis://127.0.0.1:${port}`;
    },
    get pid() {
      return child?.pid ?? 0;
    },
    dir,
    cli: (...command) => redisCommand(port, ...command),
    kill,
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    restart: async () => {
      await kill();
      await launch();
    },
    stop,
    log: () => lines.join('\n'),
  };
}
