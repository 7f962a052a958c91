/** Several processes that begin at the same moment. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { Report, Task } from './caller.js';

export interface Processes {
  /** One task a process: all begin together once all are connected; answers their reports. */
  run(tasks: readonly Task[]): Promise<readonly Report[]>;
  stop(): void;
}

interface Caller {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  line(): Promise<string>;
}

function startCaller(): Caller {
  const file = new URL('caller.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, ['--conditions=@limiter/source', '--import', 'tsx', file], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    line: async () => {
      const { value, done } = await lines.next();
      if (done === true) throw new Error('a calling process ended without a report');
      return value;
    },
  };
}

export function startProcesses(count: number): Processes {
  const callers = Array.from({ length: count }, startCaller);
  return {
    async run(tasks) {
      for (const [i, { child }] of callers.entries()) child.stdin.write(`${JSON.stringify(tasks[i])}\n`);
      for (const caller of callers) await caller.line();
      for (const { child } of callers) child.stdin.write('go\n');
      return Promise.all(callers.map(async (caller) => JSON.parse(await caller.line()) as Report));
    },
    stop() {
      for (const { child } of callers) child.kill('SIGKILL');
    },
  };
}
