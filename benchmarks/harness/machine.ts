/** What the figures were measured on. */
import { execFileSync } from 'node:child_process';
import { cpus, loadavg, totalmem } from 'node:os';
import type { Machine } from './result.js';

/** Processes that wanted a core in the last minute. */
export function loadNow(): number {
  return Number((loadavg()[0] ?? 0).toFixed(2));
}

export async function describeMachine(before: number): Promise<Machine> {
  const version = /v=(\S+)/.exec(execFileSync('redis-server', ['--version'], { encoding: 'utf8' }));
  return {
    node: process.versions.node,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    redis: version?.[1] ?? 'unknown',
    load: { before, after: loadNow() },
    date: new Date().toISOString().slice(0, 10),
  };
}
