/** What run.ts tells the process of a case. */

/** Only that everything runs; the figures mean nothing. */
export const quick: boolean = process.env['BENCH_QUICK'] === '1';

/** The rounds that were asked for with --rounds, else `usual`. */
export function roundsOr(usual: number): number {
  const asked = Number(process.env['BENCH_ROUNDS'] ?? 0);
  return asked > 0 ? asked : quick ? 3 : usual;
}

/** The part of the case that this process does. */
export const part: string = process.argv[2] ?? '';
