/** What a case measured. Everything is samples in one unit, round by round, so that ratios can be taken within a round. */

/** `info`: shown beside the others, no rival of anybody. */
export type Role = 'ours' | 'peer' | 'floor' | 'info';

export interface Entry {
  readonly name: string;
  readonly role: Role;
  /** One a round; sample `i` of every entry was taken in the same round. */
  readonly samples: readonly number[];
  /** The size that grows, where a result is about growth: keys, entries, limits, processes. */
  readonly x?: number;
}

export interface Result {
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  readonly better: 'less' | 'more' | 'exact';
  readonly entries: readonly Entry[];
  /** What every entry must show, where only one answer is right. */
  readonly expected?: number;
  /** Name of `x`. */
  readonly axis?: string;
  readonly note?: string;
}

/** A figure with its spread: the quartiles of the rounds. */
export interface Figure {
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly rounds: number;
}

export interface Machine {
  readonly node: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly redis: string;
  readonly load: { readonly before: number; readonly after: number };
  readonly date: string;
}

/** The value below which the share `q` of the values lies, between neighbours in proportion. NaN of nothing. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * q;
  const [low, high] = [sorted[Math.floor(at)] ?? Number.NaN, sorted[Math.ceil(at)] ?? Number.NaN];
  return low + (high - low) * (at - Math.floor(at));
}

export function figure(samples: readonly number[]): Figure {
  const [low, median, high] = [0.25, 0.5, 0.75].map((q) => quantile(samples, q)) as [number, number, number];
  return { low, median, high, rounds: samples.length };
}

/** Round by round, top / bottom. Where the numbers of rounds differ, medians only. */
export function ratio(top: readonly number[], bottom: readonly number[]): Figure {
  if (top.length !== bottom.length) {
    const median = quantile(top, 0.5) / quantile(bottom, 0.5);
    return { median, low: median, high: median, rounds: 1 };
  }
  return figure(top.map((one, i) => one / (bottom[i] as number)));
}
