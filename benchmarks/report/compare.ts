/** Beside the last committed run. It reports, in ratios where there is a peer, and never fails: machines are noisy. */
import type { Run } from '../harness/run-file.js';
import { judged } from './judge.js';
import { number } from './words.js';

/** Changes below this share are not shown. */
const SHOWN = 0.1;

export function compare(previous: Run, run: Run): string {
  const before = new Map(judged(previous.results).map((one) => [`${one.goal.group}\n${one.goal.text}`, one]));
  const lines: string[] = [];
  for (const { goal, value, verdict } of judged(run.results)) {
    const old = before.get(`${goal.group}\n${goal.text}`);
    if (value === undefined || old?.value === undefined) continue;
    const change = value.median / old.value.median - 1;
    if (!(Math.abs(change) >= SHOWN) && verdict === old.verdict) continue;
    const better = change === 0 ? 'changed' : change > 0 === (goal.sense === '>=') ? 'better' : 'worse';
    const verdicts = verdict === old.verdict ? verdict : `${old.verdict} -> ${verdict}`;
    lines.push(
      `${better.padEnd(7)} ${goal.group}: ${goal.text}: ${number(old.value.median)} -> ${number(value.median)} ${goal.unit} (${verdicts})`,
    );
  }
  const title = `Beside the run of ${previous.machine.date} on ${previous.machine.cpu}:`;
  return lines.length === 0 ? `${title} nothing moved by 10 % or more.` : [title, ...lines].join('\n');
}
