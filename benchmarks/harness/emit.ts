/** How a case hands a result to run.ts: a line in the file that it was given; on the screen where it was given none. */
import { appendFileSync } from 'node:fs';
import { type Entry, figure, type Result } from './result.js';

/** Five digits are more than any machine repeats. */
function short({ samples, ...rest }: Entry): Entry {
  return { ...rest, samples: samples.map((one) => Number(one.toPrecision(5))) };
}

export function emit(result: Result): void {
  const file = process.env['BENCH_OUT'];
  if (file !== undefined) {
    appendFileSync(file, `${JSON.stringify({ ...result, entries: result.entries.map(short) })}\n`);
    return;
  }
  console.log(`${result.title} (${result.unit})`);
  for (const { name, x, samples } of result.entries) {
    const { median, low, high } = figure(samples);
    const [a, b, c] = [median, low, high].map((one) => Number(one.toPrecision(4)));
    console.log(`  ${name}${x === undefined ? '' : ` ${x}`}: ${a} (${b} - ${c})`);
  }
}
