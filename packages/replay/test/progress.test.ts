import { describe, expect, it } from 'vitest';
import { progressBar } from '../src/progress.js';

/** A terminal that remembers what was written to it. */
function terminal(isTTY: boolean) {
  let text = '';
  const write = (more: string): boolean => {
    text += more;
    return true;
  };
  return { isTTY, columns: 100, write, text: () => text };
}
const aWhileAgo = (): number => performance.now() - 2_000;

describe('the progress bar', () => {
  it('shows a person how far a long replay is, in bytes of the log, and clears itself', () => {
    const stream = terminal(true);
    const bar = progressBar(stream, aWhileAgo());
    bar.update({ bytes: 50, size: 100, lines: 12_345 });
    bar.stop();
    expect(stream.text()).toContain('█░');
    expect(stream.text()).toContain('lines');
    expect(stream.text()).toMatch(/\u001b\[2?K(?:\u001b\[1G)?$/);
  });

  it('counts lines where nobody knows how many there will be', () => {
    const stream = terminal(true);
    const bar = progressBar(stream, aWhileAgo());
    bar.update({ bytes: 50, size: undefined, lines: 12_345 });
    bar.stop();
    expect(stream.text()).toContain('12,345 lines');
    expect(stream.text()).not.toContain('%');
  });

  it('leaves the terminal as it is when it is ended by Ctrl-C: the cursor is shown, lines wrap', () => {
    const stream = terminal(true);
    progressBar(stream, aWhileAgo()).update({ bytes: 1, size: 2, lines: 1 });
    expect(stream.text()).not.toMatch(/\u001b\[\?(7|25)l/);
  });

  it('writes nothing in the first second, and nothing where no terminal is', () => {
    const [soon, pipe] = [terminal(true), terminal(false)];
    for (const bar of [progressBar(soon), progressBar(pipe, aWhileAgo())]) {
      bar.update({ bytes: 1, size: 2, lines: 1 });
      bar.stop();
    }
    expect([soon.text(), pipe.text()]).toEqual(['', '']);
  });
});
