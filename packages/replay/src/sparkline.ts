/** Counts as a row of bars, one character each. */

const BARS = '▁▂▃▄▅▆▇█';

/**
 * The largest count is a full bar, the smallest above 0 at least the lowest one; 0 is a dot, so that nothing is never
 * mistaken for little.
 * @example sparkline([0, 1, 4, 8]) // '·▁▄█'
 */
export function sparkline(counts: readonly number[], max: number = Math.max(0, ...counts)): string {
  return counts
    .map((count) => (count === 0 ? '·' : BARS[Math.max(0, Math.ceil((count / max) * BARS.length) - 1)]))
    .join('');
}
