/** Rivals in turn, round by round, in one process: what the machine does meanwhile hits all of them. */

export interface Rival {
  readonly name: string;
  /** Does `calls` calls, beginning with number `from`. */
  readonly run: (calls: number, from: number) => void | Promise<void>;
}

export interface Speed {
  readonly name: string;
  /** Calls a second, median of the rounds, by the clock on the wall. */
  readonly perSecond: number;
  /** Lower and upper quartile of the rounds. */
  readonly quartiles: readonly [number, number];
  /** Median us a call. */
  readonly us: number;
  /** CPU time of this process, us a call, median: what a busy machine disturbs least. */
  readonly cpuUs: number;
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.round((sorted.length - 1) * q)] ?? Number.NaN;
}

export async function race(rivals: readonly Rival[], rounds: number, roundMs: number): Promise<Speed[]> {
  const seen = rivals.map(() => ({ from: 0, us: [] as number[], cpuUs: [] as number[] }));
  for (let round = -1; round < rounds; round += 1) {
    for (const [i, rival] of rivals.entries()) {
      const record = seen[i] as (typeof seen)[number];
      let calls = 0;
      const cpuBefore = process.cpuUsage();
      const began = performance.now();
      let tookMs = 0;
      while (tookMs < roundMs) {
        await rival.run(256, record.from);
        record.from += 256;
        calls += 256;
        tookMs = performance.now() - began;
      }
      const cpu = process.cpuUsage(cpuBefore);
      // The first round only warms up.
      if (round < 0) continue;
      record.us.push((tookMs * 1_000) / calls);
      record.cpuUs.push((cpu.user + cpu.system) / calls);
    }
  }
  return rivals.map(({ name }, i) => {
    const { us, cpuUs } = seen[i] as (typeof seen)[number];
    return {
      name,
      us: quantile(us, 0.5),
      perSecond: 1e6 / quantile(us, 0.5),
      quartiles: [1e6 / quantile(us, 0.75), 1e6 / quantile(us, 0.25)],
      cpuUs: quantile(cpuUs, 0.5),
    };
  });
}
