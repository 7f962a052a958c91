/** Registers the suite with vitest. */
import { strict as assert } from 'node:assert';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { Bench } from './bench.js';
import type { Group } from './check.js';
import { reasonToLeaveOut } from './collect.js';
import { groups } from './groups.js';
import type { Capabilities, StoreFactory } from './subject.js';

/** A property on a store that is a network away takes its time. */
const CHECK_TIMEOUT_MS = 180_000;

export interface DescribeStoreOptions {
  /** What the store can do; left out: everything, on a clock that can be turned. */
  readonly capabilities?: Capabilities;
}

/**
 * Every check of one group as a vitest test, on a store of its own. What is left out is listed as a test whose title holds the reason.
 *
 * @example describeGroup(time, ({ clock }) => myStore({ clock }))
 */
export function describeGroup(group: Group, factory: StoreFactory, options: DescribeStoreOptions = {}): void {
  const { capabilities = {} } = options;
  describe(group.name, () => {
    const bench = new Bench(factory, capabilities);
    beforeAll(() => bench.open(), CHECK_TIMEOUT_MS);
    afterAll(() => bench.close(), CHECK_TIMEOUT_MS);
    const leftOut = new Map<string, string[]>();
    for (const check of group.checks) {
      const reason = reasonToLeaveOut(check, capabilities);
      if (reason === undefined) it(check.title, () => check.run(bench), CHECK_TIMEOUT_MS);
      else leftOut.set(reason, [...(leftOut.get(reason) ?? []), check.title]);
    }
    for (const [reason, titles] of leftOut) {
      const checks = titles.length === 1 ? titles[0] : `${titles.length} checks (${titles.join('; ')})`;
      it(`leaves out, because ${reason}: ${checks}`, () => {
        assert.ok(reason.trim().length >= 10, 'what is left out is left out for a reason');
      });
    }
  });
}

/**
 * The whole suite: what every store must satisfy, as vitest tests under `name`.
 *
 * @param factory makes a store with empty data that nothing else uses; called once a group.
 * @example
 * describeStore('my store', ({ clock }) => myStore({ clock }), {
 *   capabilities: { unsupported: { 'second-handle': 'the data lies in this process' } },
 * });
 */
export function describeStore(name: string, factory: StoreFactory, options: DescribeStoreOptions = {}): void {
  describe(name, () => {
    for (const group of groups) describeGroup(group, factory, options);
    it('leaves out only checks that there are', () => {
      const titles = groups.flatMap(({ checks }) => checks.map(({ title }) => title));
      for (const { title } of options.capabilities?.leaveOut ?? []) {
        const matches = (one: string): boolean => (typeof title === 'string' ? title === one : title.test(one));
        assert.ok(titles.some(matches), `no check has the title ${title}`);
      }
    });
  });
}
