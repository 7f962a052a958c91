/** `limiter replay` on generated logs: lines a minute, and whether the memory it takes depends on the length of the log. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseLimitTexts, replay } from '@limiter/replay';
import { emit } from '../harness/emit.js';
import type { Entry } from '../harness/result.js';
import { quick } from '../harness/settings.js';

const CLIENTS = 5_000;

/** Combined format, ten requests a second of 5,000 clients, some far busier than others. */
function write(file: string, lines: number): void {
  const out = openSync(file, 'w');
  const start = Date.UTC(2025, 0, 1);
  let text = '';
  for (let i = 0; i < lines; i += 1) {
    const at = new Date(start + i * 100).toISOString();
    const client = Math.floor(CLIENTS * ((i * 0.6180339887) % 1) ** 3);
    const day = `${at.slice(8, 10)}/${['Jan', 'Feb', 'Mar'][Number(at.slice(5, 7)) - 1]}/${at.slice(0, 4)}`;
    text += `10.${client >> 8}.${client & 255}.7 - - [${day}:${at.slice(11, 19)} +0000] "GET /items/${i % 997} HTTP/1.1" 200 ${1_000 + (i % 4_000)} "-" "Mozilla/5.0"\n`;
    if (text.length > 1_000_000 || i === lines - 1) {
      writeSync(out, text);
      text = '';
    }
  }
  closeSync(out);
}

if (process.argv[2] === 'judge') {
  const began = performance.now();
  await judge(process.argv[3] as string);
  process.stdout.write(
    JSON.stringify({ ms: performance.now() - began, rssMb: process.resourceUsage().maxRSS / 1_024 }),
  );
  process.exit();
}

async function judge(file: string): Promise<void> {
  const limits = [
    '20/60s sliding-window-log by ip',
    '300/1h token-bucket by ip',
    '100/10s fixed-window by path shadow',
  ];
  await replay({ logs: [file], limits: parseLimitTexts(limits) });
}

const folder = mkdtempSync(join(tmpdir(), 'limiter-replay-'));
const sizes = quick ? [1_000, 10_000] : [100_000, 1_000_000, 3_000_000];
const speed: Entry[] = [];
const memory: Entry[] = [];
try {
  for (const lines of sizes) {
    const file = join(folder, `${lines}.log`);
    write(file, lines);
    const self = fileURLToPath(import.meta.url);
    const said = execFileSync(process.execPath, ['--no-warnings', self, 'judge', file], { encoding: 'utf8' });
    const { ms, rssMb } = JSON.parse(said) as { ms: number; rssMb: number };
    speed.push({ name: 'three limits', role: 'ours', x: lines, samples: [(lines / ms) * 60_000] });
    memory.push({ name: 'three limits', role: 'ours', x: lines, samples: [rssMb] });
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
emit({
  id: 'replay',
  title: 'Replay: lines a minute',
  unit: 'lines a minute',
  better: 'more',
  axis: 'lines',
  entries: speed,
});
emit({
  id: 'replay memory',
  title: 'Replay: the most memory, by the length of the log',
  unit: 'MB',
  better: 'less',
  axis: 'lines',
  entries: memory,
});
