/** The file of a run, and a part measured anew put into it. */
import type { Entry, Machine, Result } from './result.js';

export interface Run {
  readonly format: 1;
  readonly machine: Machine;
  readonly results: readonly Result[];
  /** Cases that ended with an error, and what they said. */
  readonly failed: Readonly<Record<string, string>>;
}

/** Several processes may measure the entries of one result: they become one, the later entry of a name winning. */
export function joined(results: readonly Result[]): Result[] {
  const byId = new Map<string, Result>();
  for (const result of results) {
    const entries = new Map<string, Entry>();
    for (const entry of [...(byId.get(result.id)?.entries ?? []), ...result.entries]) {
      entries.set(`${entry.name}\n${entry.x ?? ''}`, entry);
    }
    byId.set(result.id, { ...result, entries: [...entries.values()] });
  }
  return [...byId.values()];
}

export function merged(previous: Run | undefined, run: Run): Run {
  return { ...run, results: joined([...(previous?.results ?? []), ...run.results]) };
}
