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

/** Every check of one group against a store of its own. */
export async function collect(
  group: Group,
  factory: StoreFactory,
  capabilities: Capabilities = {},
): Promise<readonly Result[]> {
  const bench = new Bench(factory, capabilities);
  await bench.open();
  const results: Result[] = [];
  try {
    for (const check of group.checks) {
      const reason = reasonToLeaveOut(check, capabilities);
      results.push({ group: group.name, title: check.title, ...(await outcomeOf(check, bench, reason)) });
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
