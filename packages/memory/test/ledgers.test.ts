import { type FixedWindowRule, type Ledger, ruleGrid, type TokenBucketRule } from '@limiter/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EntryLog } from '../src/entry-log.js';
import { Ledgers } from '../src/ledgers.js';
import { newScratch, type Space } from '../src/space.js';
import { bucket, fixed, log } from './steps.js';

const RULES = [bucket(5, 1, 1_000), fixed(5, 1_000), log(5, 1_000), bucket(7, 1, 2_000), fixed(7, 2_000)] as const;
const KEYS = 6;

const key = fc.nat({ max: KEYS - 1 });
const which = fc.nat({ max: RULES.length - 1 });
const command = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('write' as const), key, which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), key, which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('leave' as const), key }) },
);

function ledgerOf(one: number): Ledger {
  return { name: `api/${one}`, grid: ruleGrid(RULES[one] as FixedWindowRule | TokenBucketRule), values: [] };
}

/** A state that no other ledger has, as a change and as what is read back. */
function stateOf(one: number, id: number) {
  if (RULES[one]?.algorithm === 'sliding-window-log') return { shiftMs: 0, create: id };
  return RULES[one]?.algorithm === 'fixed-window'
    ? { start: id + 0.25, used: id + 1, id }
    : { debt: id + 0.5, at: id + 1, charged: id + 2, id };
}

/** What is stored, in the form of `stateOf`. */
function read(ledgers: Ledgers, key: string, space: Space | undefined) {
  if (space === undefined) return undefined;
  const slot = ledgers.table.find(key);
  const state = space.read(ledgers.row(slot, space), newScratch());
  return state instanceof EntryLog ? { shiftMs: 0, create: state.id } : state;
}

describe('the ledgers of a key', () => {
  it('are found again, each with its own numbers, whichever were added, forgotten or put out between', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 200, size: 'max' }), (commands) => {
        const ledgers = new Ledgers(KEYS, false);
        const { table } = ledgers;
        const spaces: Space[] = RULES.map((rule, one) => ledgers.addSpace(ledgerOf(one), rule));
        const known = new Map<string, Map<number, number>>();
        let id = 0;
        for (const one of commands) {
          const name = `key:${one.key}`;
          const kept = known.get(name);
          if (one.do === 'write') {
            id += 1;
            const space = spaces[one.which] as Space;
            const slot = kept === undefined ? table.add(name, 0) : table.find(name);
            const found = ledgers.row(slot, space);
            expect(found >= 0).toBe(kept?.has(one.which) ?? false);
            const row = found < 0 ? ledgers.addRow(slot, space) : found;
            space.write(row, stateOf(one.which, id));
            known.set(name, new Map([...(kept ?? []), [one.which, id]]));
          } else if (kept === undefined) continue;
          else if (one.do === 'leave') {
            // It is due, so it leaves, and with it all of its ledgers.
            table.settle(table.find(name), 1, 0);
            table.sweep(1, 1);
            known.delete(name);
          } else {
            ledgers.remove(table.find(name), spaces[one.which] as Space);
            kept.delete(one.which);
            if (kept.size === 0) known.delete(name);
          }
          expect(table.size).toBe(known.size);
          const having = [...known.values()];
          expect(spaces.map((space) => space.size)).toEqual(
            spaces.map((_, at) => having.filter((ids) => ids.has(at)).length),
          );
          const counted = [...known].every(([other, ids]) => ledgers.has(table.find(other), ids.size));
          expect(counted).toBe(true);
          const stored = [...known].map(([other, ids]) =>
            [...ids.keys()].map((at) => read(ledgers, other, spaces[at])),
          );
          expect(stored).toEqual(having.map((ids) => [...ids].map(([at, expected]) => stateOf(at, expected))));
        }
      }),
      { numRuns: 100 },
    );
  });
});
