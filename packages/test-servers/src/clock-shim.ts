/** A server clock that a test can step: a small preload library, compiled here, adds a number of ms to the wall clock. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Preload } from './server-process.js';

export interface ClockShim extends Preload {
  /** By how many ms the server's wall clock is ahead of the real one (negative: behind). Set it at any time, at once effective. */
  offsetMs: number;
  /** Removes the file that holds the offset. */
  close(): void;
}

const SOURCE = join(import.meta.dirname, 'clock-shim.c');

/** Compiled once a version of the source; the rename makes a parallel compilation harmless. */
async function library(): Promise<string> {
  const digest = createHash('sha256').update(readFileSync(SOURCE)).digest('hex').slice(0, 16);
  const path = join(tmpdir(), `limiter-clock-shim-${digest}.so`);
  if (existsSync(path)) return path;
  const draft = `${path}.${process.pid}`;
  try {
    await promisify(execFile)('gcc', ['-O2', '-Wall', '-shared', '-fPIC', '-o', draft, SOURCE]);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
    throw new Error('The clock shim needs a C compiler. Install it with: sudo apt-get install gcc libc6-dev', {
      cause,
    });
  }
  renameSync(draft, path);
  return path;
}

/**
 * @example
 * const clock = await clockShim();
 * const server = await startRedis({ preload: clock });
 * clock.offsetMs = -3_600_000; // TIME is an hour behind from the next call on
 */
export async function clockShim(): Promise<ClockShim> {
  const path = await library();
  const dir = mkdtempSync(join(tmpdir(), 'limiter-clock-'));
  const file = join(dir, 'offset');
  const fd = openSync(file, 'w+');
  const bytes = Buffer.alloc(8);
  let offsetMs = 0;
  writeSync(fd, bytes, 0, 8, 0);
  return {
    library: path,
    env: { LIMITER_CLOCK_FILE: file },
    get offsetMs() {
      return offsetMs;
    },
    set offsetMs(ms: number) {
      bytes.writeBigInt64LE(BigInt(ms));
      writeSync(fd, bytes, 0, 8, 0);
      offsetMs = ms;
    },
    close() {
      closeSync(fd);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
