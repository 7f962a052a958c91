/** Properties over random cases, with fast-check. A failure prints its seed and path; FC_SEED and FC_PATH replay it. */
import fc from 'fast-check';
import { type Bench, START } from './bench.js';

const RUNS = { fast: 200, slow: 25 };

function wholeNumber(name: string): number | undefined {
  const text = process.env[name];
  return text === undefined || text === '' ? undefined : Number.parseInt(text, 10);
}

/**
 * `holds` for random `cases`. As many as the store's speed allows (times `share`), or FC_RUNS.
 *
 * @example await forAll(bench, fc.nat(), async (n) => { ... })
 */
export async function forAll<T>(
  bench: Bench,
  cases: fc.Arbitrary<T>,
  holds: (one: T) => Promise<void>,
  share = 1,
): Promise<void> {
  const seed = wholeNumber('FC_SEED') ?? bench.capabilities.seed;
  const path = process.env['FC_PATH'];
  const runs = Math.ceil(RUNS[bench.capabilities.speed ?? 'fast'] * share);
  const property = fc.asyncProperty(cases, async (one) => {
    // Every case begins at the same moment, so that it can be replayed alone.
    if (bench.can('turned-clock')) bench.now = START;
    await holds(one);
  });
  await fc.assert(property, {
    numRuns: wholeNumber('FC_RUNS') ?? runs,
    ...(seed === undefined ? {} : { seed }),
    ...(path === undefined || path === '' ? {} : { path }),
    asyncReporter: async (details) => {
      if (!details.failed) return;
      const replay = `replay with FC_SEED=${details.seed} FC_PATH='${details.counterexamplePath ?? ''}'`;
      const cause = details.errorInstance;
      const why = cause instanceof Error ? cause.message : String(cause ?? 'too many cases were rejected');
      const shown = fc.stringify(details.counterexample);
      throw new Error(`after ${details.numRuns} runs (${replay}):\n${why}\nfor ${shown.slice(0, 4_000)}`, { cause });
    },
  });
}
