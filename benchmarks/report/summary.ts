/** The end of a run on the terminal: goals, and who was not exact. */
import type { Result } from '../harness/result.js';
import { quantile } from '../harness/result.js';
import { judged } from './judge.js';
import { number, spread } from './words.js';

export function summary(results: readonly Result[]): string {
  const goals = judged(results).filter(({ verdict }) => verdict !== 'not measured');
  const lines = goals.map(({ goal, value, verdict }) => {
    const shown = value === undefined ? '-' : spread(value);
    return `${verdict.padEnd(7)} ${goal.group}: ${goal.text}: ${shown} ${goal.unit}, wanted ${goal.sense} ${number(goal.bound)}`;
  });
  const exact = results.filter(({ expected }) => expected !== undefined);
  const inexact = exact.flatMap(({ title, entries, expected }) =>
    entries
      .filter(({ samples }) => quantile(samples, 0.5) !== expected)
      .map(({ name, samples }) => `inexact ${title}: ${name}: ${samples[0]}, right is ${expected}`),
  );
  return [...lines, ...inexact].join('\n');
}
