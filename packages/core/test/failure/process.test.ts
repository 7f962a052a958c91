/** What only a process of its own can show: that nothing keeps it alive, and that no rejection goes unhandled. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

interface Ended {
  readonly out: string;
  readonly err: string;
  readonly code: unknown;
  readonly killed: boolean;
}

const script = fileURLToPath(new URL('./outage.ts', import.meta.url));

function run(scenario: string): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['--import', 'tsx', script, scenario], { timeout: 20_000 }, (error, out, err) =>
      resolve({ out, err, code: error?.code ?? 0, killed: error?.killed ?? false }),
    );
  });
}

describe('a process in an outage', () => {
  it('is not kept alive by a question that waits for its deadline', async () => {
    expect(await run('pending')).toEqual({ out: 'asked\n', err: '', code: 0, killed: false });
  });

  it('is not kept alive by the timer of a question that was answered', async () => {
    expect(await run('answered')).toEqual({ out: 'answered\n', err: '', code: 0, killed: false });
  });

  it('sees no unhandled rejection, whatever throws, rejects or comes late, and one warning a limiter', async () => {
    const { out, err, code } = await run('rejections');
    expect({ out, code }).toEqual({ out: 'done\n', code: 0 });
    expect(err).toContain(
      "[LIMITER_STORE_FAILURE] LimiterWarning: limiter api: the store failed (unknown-outcome: ECONNREFUSED); onStoreFailure: 'allow' decides.",
    );
    // One limiter each `ask`: three a word, and none for the one with a watcher of its own.
    expect(err.match(/LimiterWarning: /g)).toHaveLength(12);
  });
});
