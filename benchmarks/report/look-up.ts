/** Finds figures in the results by name. What was not measured is undefined, and a goal over it is "not measured". */
import { type Entry, type Figure, figure, quantile, type Result, ratio } from '../harness/result.js';

export interface LookUp {
  result(id: string): Result | undefined;
  /** A figure of an entry; `x` where there are several sizes. */
  figure(id: string, name: string, x?: number): Figure | undefined;
  /** The 10th percentile of an entry: for server time, which noise only adds to. */
  p10(id: string, name: string): number | undefined;
  /** How many times as fast (or as many) `ours` is as the other, round by round; above 1 is better. */
  faster(id: string, ours: string, other: string): Figure | undefined;
  /** The entry of this role whose median is best. */
  best(id: string, role: Entry['role'], name?: RegExp): Entry | undefined;
}

export function lookUp(results: readonly Result[]): LookUp {
  const result = (id: string): Result | undefined => results.find((one) => one.id === id);
  const entry = (id: string, name: string, x?: number): Entry | undefined =>
    result(id)?.entries.find((one) => one.name === name && (x === undefined || one.x === x));
  return {
    result,
    figure(id, name, x) {
      const found = entry(id, name, x);
      return found && figure(found.samples);
    },
    p10(id, name) {
      const found = entry(id, name);
      return found && quantile(found.samples, 0.1);
    },
    faster(id, ours, other) {
      const [mine, its] = [entry(id, ours), entry(id, other)];
      if (mine === undefined || its === undefined) return undefined;
      return result(id)?.better === 'more' ? ratio(mine.samples, its.samples) : ratio(its.samples, mine.samples);
    },
    best(id, role, name) {
      const found = result(id);
      const of = ({ samples }: Entry): number => quantile(samples, 0.5) * (found?.better === 'more' ? -1 : 1);
      const rivals = found?.entries.filter((one) => one.role === role && (name === undefined || name.test(one.name)));
      return rivals?.sort((a, b) => of(a) - of(b))[0];
    },
  };
}
