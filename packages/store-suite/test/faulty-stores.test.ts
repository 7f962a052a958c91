import { describe, expect, it } from 'vitest';
import { type Capabilities, collect, groups } from '../src/index.js';
import { CHARGING } from './faulty/charging.js';
import { CLOCKS } from './faulty/clocks.js';
import { KEYS } from './faulty/keys.js';

const FAULTY_STORES = [...CHARGING, ...CLOCKS, ...KEYS];

/** A fixed seed: whether a fault is found is not left to chance. */
const CAPABILITIES: Capabilities = {
  speed: 'slow',
  seed: 1_700_000_000,
  unsupported: { damage: 'its ledgers lie in this process, out of reach of anybody else' },
};

/** A group that lets a wrong store pass is worth nothing. */
describe('the suite', () => {
  for (const { fault, caughtBy, make } of FAULTY_STORES) {
    it(`catches a store that ${fault}, in ${caughtBy.map(({ name }) => name).join(', ')}`, {
      timeout: 120_000,
    }, async () => {
      for (const group of caughtBy) {
        const results = await collect(group, make, { capabilities: CAPABILITIES, bail: true });
        expect(
          results.map(({ outcome }) => outcome),
          group.name,
        ).toContain('failed');
      }
    });
  }

  it('has a faulty store for every group', () => {
    const used = new Set(FAULTY_STORES.flatMap(({ caughtBy }) => caughtBy));
    expect(groups.filter((group) => !used.has(group)).map(({ name }) => name)).toEqual([]);
  });
});
