/** Registers the suite with vitest. */
import { strict as assert } from 'node:assert';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { Bench } from './bench.js';
import type { Group } from './check.js';
import { reasonToLeaveOut } from './collect.js';
import type { Capabilities, StoreFactory } from './subject.js';

/** Every check of one group as a vitest test. What is left out is listed as a test that holds the reason. */
export function describeGroup(group: Group, factory: StoreFactory, capabilities: Capabilities = {}): void {
  describe(group.name, () => {
    const bench = new Bench(factory, capabilities);
    beforeAll(() => bench.open());
    afterAll(() => bench.close());
    const leftOut = new Map<string, string[]>();
    for (const check of group.checks) {
      const reason = reasonToLeaveOut(check, capabilities);
      if (reason === undefined) it(check.title, () => check.run(bench));
      else leftOut.set(reason, [...(leftOut.get(reason) ?? []), check.title]);
    }
    for (const [reason, titles] of leftOut) {
      it(`leaves out, because ${reason}: ${titles.join('; ')}`, () => {
        assert.ok(reason.trim().length >= 10, 'what is left out is left out for a reason');
      });
    }
  });
}
