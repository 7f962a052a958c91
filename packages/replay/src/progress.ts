/** A bar on standard error while a long replay runs: only for a person at a terminal, and only after a second. */
import { Presets, SingleBar } from 'cli-progress';
import type { Output } from './program.js';
import type { Progress } from './replay.js';
import { number } from './words.js';

export interface ProgressBar {
  update(progress: Progress): void;
  stop(): void;
}

export function progressBar(stream: Output, startedAt: number = performance.now()): ProgressBar {
  let bar: SingleBar | undefined;
  return {
    update({ bytes, size, lines }) {
      if (!stream.isTTY || performance.now() - startedAt < 1_000) return;
      if (!bar) {
        const format = size === undefined ? '  {lines} lines' : '  {bar} {percentage} %  {lines} lines';
        bar = new SingleBar(
          {
            stream: stream as unknown as NodeJS.WriteStream,
            format,
            // Ctrl-C ends the process at once: the terminal must not be left in another state.
            hideCursor: false,
            linewrap: true,
            clearOnComplete: true,
            fps: 10,
            barsize: 30,
          },
          Presets.shades_classic,
        );
        bar.start(size ?? 1, 0, { lines: '0' });
      }
      bar.update(size === undefined ? 0 : Math.min(bytes, size), { lines: number(lines) });
    },
    stop() {
      bar?.stop();
    },
  };
}
