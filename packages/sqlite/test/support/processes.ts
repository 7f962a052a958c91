/** Other processes, which run a program of this folder from its sources. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';

const running = new Set<ChildProcess>();

export interface Program {
  readonly child: ChildProcess;
  /** Everything that it wrote, when it has ended; an error when it failed. */
  readonly output: Promise<string>;
}

export function start(program: string, ...args: readonly string[]): Program {
  const file = fileURLToPath(new URL(`../programs/${program}`, import.meta.url));
  const child = spawn(process.execPath, ['--conditions=@limiter/source', '--import', 'tsx', file, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  running.add(child);
  return { child, output: read(child) };
}

async function read(child: ChildProcess): Promise<string> {
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  running.delete(child);
  if (code !== 0 && signal !== 'SIGKILL') throw new Error(`the program ended with ${code ?? signal}: ${text}`);
  return text;
}

afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
});
