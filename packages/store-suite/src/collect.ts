/** Runs groups without a test runner and says how each check went. */
import { Bench } from './bench.js';
import type { Check, Group } from './check.js';
import { type Capabilities, lacks, type StoreFactory } from './subject.js';

export interface Result {
  readonly group: string;
  readonly title: string;
  readonly outcome: 'passed' | 'failed' | 'left-out';
  /** Why it failed. */
  readonly error?: unknown;
  /** Why it was left out. */
  readonly reason?: string;
}

/** Why a check is not asked of a store; undefined when it is. */
export function reasonToLeaveOut(check: Check, capabilities: Capabilities): string | undefined {
  for (const { title, reason } of capabilities.leaveOut ?? []) {
    if (typeof title === 'string' ? title === check.title : title.test(check.title)) return reason;
  }
  for (const need of check.needs ?? []) {
    const reason = lacks(capabilities, need);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

export interface CollectOptions {
  readonly capabilities?: Capabilities;
  /** End with the first check that fails. */
  readonly bail?: boolean;
}

/**
 * Every check of one group against a store of its own.
 *
 * @example const failed = (await collect(keys, () => myStore())).filter(({ outcome }) => outcome === 'failed');
 */
export async function collect(
  group: Group,
  factory: StoreFactory,
  options: CollectOptions = {},
): Promise<readonly Result[]> {
  const { capabilities = {}, bail = false } = options;
  const bench = new Bench(factory, capabilities);
  await bench.open();
  const results: Result[] = [];
  try {
    for (const check of group.checks) {
      const reason = reasonToLeaveOut(check, capabilities);
      const result = { group: group.name, title: check.title, ...(await outcomeOf(check, bench, reason)) };
      results.push(result);
      if (bail && result.outcome === 'failed') break;
    }
  } finally {
    await bench.close();
  }
  return results;
}

async function outcomeOf(
  check: Check,
  bench: Bench,
  reason: string | undefined,
): Promise<Omit<Result, 'group' | 'title'>> {
  if (reason !== undefined) return { outcome: 'left-out', reason };
  try {
    await check.run(bench);
    return { outcome: 'passed' };
  } catch (error) {
    return { outcome: 'failed', error };
  }
}
