/** The forms that a goal takes. */
import type { Figure } from '../harness/result.js';
import type { LookUp } from '../report/look-up.js';

export interface Goal {
  /** Which case it belongs to, as the report groups them. */
  readonly group: string;
  readonly text: string;
  /** `value >= bound` or `value <= bound`. */
  readonly sense: '>=' | '<=';
  readonly bound: number;
  readonly unit: string;
  readonly value: (from: LookUp) => Figure | undefined;
}

const plain = (value: number | undefined): Figure | undefined =>
  value === undefined || Number.isNaN(value) ? undefined : { median: value, low: value, high: value, rounds: 1 };

export type Value = Goal['value'];
export const times = (group: string, text: string, bound: number, value: Value): Goal => ({
  group,
  text,
  sense: '>=',
  bound,
  unit: 'x',
  value,
});
export const most = (group: string, text: string, bound: number, unit: string, value: Value): Goal => ({
  group,
  text,
  sense: '<=',
  bound,
  unit,
  value,
});

/** Beside the best of the rivals whose name fits. */
export const beside =
  (id: string, ours: string, rival: RegExp = /./): Value =>
  (from) => {
    const best = from.best(id, 'peer', rival);
    return best && from.faster(id, ours, best.name);
  };
/** p10 over p10: noise only ever adds to what a server counts. */
export const cost =
  (id: string, ours: string, otherId: string, other: string, factor = 1): Value =>
  (from) => {
    const [mine, its] = [from.p10(`redis cost ${id}`, ours), from.p10(`redis cost ${otherId}`, other)];
    return mine === undefined || its === undefined ? undefined : plain(mine / (factor * its));
  };
export const absolute =
  (id: string, name: string, x?: number): Value =>
  (from) =>
    from.figure(id, name, x);
/** A figure at the larger size over that at the smaller one. */
export const grown =
  (id: string, name: string, to: number, base: number, baseName = name): Value =>
  (from) => {
    const [large, small] = [from.figure(id, name, to), from.figure(id, baseName, base)];
    return (
      large &&
      small && {
        median: large.median / small.median,
        low: large.low / small.high,
        high: large.high / small.low,
        rounds: large.rounds,
      }
    );
  };
export const grownName =
  (id: string, name: string, base: string): Value =>
  (from) => {
    const [large, small] = [from.p10(id, name), from.p10(id, base)];
    return large === undefined || small === undefined ? undefined : plain(large / small);
  };
/** One value over another. */
export const beyond =
  (top: Value, bottom: Value): Value =>
  (from) => {
    const [one, other] = [top(from), bottom(from)];
    return one && other && plain(one.median / other.median);
  };
