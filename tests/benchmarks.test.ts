/** The benchmarks run: their programs compile, start their servers, ask every contender and hand over their figures. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const root = new URL('..', import.meta.url).pathname;

describe('the benchmarks', () => {
  it('ask every contender 300 times at once, and only peers admit another number than the limit', async () => {
    const args = [
      '--conditions=@limiter/source',
      '--import',
      'tsx',
      'benchmarks/run.ts',
      '--quick',
      '--only',
      '^exact',
    ];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
    expect(stdout).toContain('done  exact');
    expect(stdout).toContain('inexact Exact: then a cost of 2');
    expect(stdout).not.toContain(': ours');
  }, 120_000);
});
