/** What one limit did: as one of all, and alone. */
import type { LimitStatus } from '@limiter/core';
import { axisValue } from './axes.js';
import type { LoggedRequest } from './in-order.js';
import type { Verdicts } from './judge.js';
import type { LimitSpec } from './limit-text.js';
import { RefusalTally, type Whole } from './refusals.js';
import type { LimitReport } from './report.js';

export class LimitTally {
  readonly #spec: LimitSpec;
  readonly #index: number;
  readonly #together = new RefusalTally();
  readonly #alone = new RefusalTally();
  #skipped = 0;
  #onlyThis = 0;

  /** `index`: the place of the limit among all. */
  constructor(spec: LimitSpec, index: number) {
    this.#spec = spec;
    this.#index = index;
  }

  /** `refusing`: how many enforced limits refuse this request. */
  add(entry: LoggedRequest, { together, alone }: Verdicts, refusing: number): void {
    const { name, shadow } = this.#spec;
    const status = together.limits[name] as LimitStatus;
    if (status.skipped) {
      this.#skipped++;
      return;
    }
    this.#judge(this.#together, entry, status);
    this.#judge(this.#alone, entry, alone[this.#index] as LimitStatus);
    if (!status.allowed && refusing === 1 && !shadow) this.#onlyThis++;
  }

  report(whole: Whole): LimitReport {
    const { name, text, algorithm, axes, shadow } = this.#spec;
    return {
      name,
      limit: text,
      algorithm,
      by: axes,
      mode: shadow ? 'shadow' : 'enforce',
      judged: this.#together.judged,
      skipped: this.#skipped,
      together: { ...this.#together.refusals(whole), onlyThis: this.#onlyThis, peak: this.#together.peak(whole) },
      alone: { ...this.#alone.refusals(whole), peak: this.#alone.peak(whole) },
    };
  }

  #judge(tally: RefusalTally, entry: LoggedRequest, { allowed, limit, remaining }: LimitStatus): void {
    tally.add(entry, !allowed);
    const of = limit as number;
    tally.use(entry, of - remaining, of, () => this.#spec.axes.map((axis) => axisValue(entry.request, axis) ?? ''));
  }
}
