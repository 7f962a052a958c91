/** Runs the program of a case in a process of its own and collects what it emits. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Result } from './result.js';

export interface ChildOptions {
  readonly nodeArgs?: readonly string[];
  readonly quick: boolean;
  readonly rounds: number | undefined;
  /** Killed after this. */
  readonly limitMs: number;
}

export interface Report {
  readonly results: readonly Result[];
  /** Why it did not end well. */
  readonly failure: string | undefined;
}

export async function runChild(program: string, part: string, options: ChildOptions): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'limiter-bench-'));
  const file = join(folder, 'results');
  const env = {
    ...process.env,
    BENCH_OUT: file,
    BENCH_QUICK: options.quick ? '1' : '0',
    BENCH_ROUNDS: String(options.rounds ?? 0),
    NODE_ENV: 'production',
  };
  const child = spawn(process.execPath, ['--no-warnings', ...(options.nodeArgs ?? []), program, part], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const clock = setTimeout(() => child.kill('SIGKILL'), options.limitMs);
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4_000);
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  clearTimeout(clock);
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  rmSync(folder, { recursive: true, force: true });
  const failure = code === 0 ? undefined : `${signal ?? `exit code ${code}`}: ${said.trim()}`;
  return { results: lines.map((line) => JSON.parse(line) as Result), failure };
}
