import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyTable } from '../src/key-table.js';

interface Kept {
  readonly key: string;
  slot: number;
  forgetAt: number;
  exhaustedUntil: number;
  /** At the latest then somebody looks at it. */
  look: number;
}

/** The same rules on plain arrays, the order of use in each: the last used at its end. */
class NaiveTable {
  withBudget: Kept[] = [];
  exhausted: Kept[] = [];
  readonly left: string[] = [];

  get all(): readonly Kept[] {
    return [...this.withBudget, ...this.exhausted];
  }

  find(key: string): Kept | undefined {
    return this.all.find((kept) => kept.key === key);
  }

  /** Puts a key at the end of the order in which it belongs now. */
  stand(kept: Kept): void {
    this.drop(kept);
    (kept.exhaustedUntil === 0 ? this.withBudget : this.exhausted).push(kept);
  }

  drop(kept: Kept): void {
    this.withBudget = this.withBudget.filter((other) => other !== kept);
    this.exhausted = this.exhausted.filter((other) => other !== kept);
  }

  leave(kept: Kept, why: string): void {
    this.drop(kept);
    this.left.push(`${kept.key} ${why}`);
  }

  settle(kept: Kept, forgetAt: number, exhaustedUntil: number): void {
    const moves = (kept.exhaustedUntil === 0) !== (exhaustedUntil === 0);
    kept.forgetAt = forgetAt;
    kept.exhaustedUntil = exhaustedUntil;
    kept.look = Math.min(kept.look, forgetAt, exhaustedUntil === 0 ? forgetAt : exhaustedUntil);
    if (moves) this.stand(kept);
  }

  /** Looks at the key that is due first, where one is; true when it left. */
  lookAtDue(now: number): boolean | undefined {
    const [first] = this.all.toSorted((a, b) => a.look - b.look);
    if (first === undefined || first.look > now) return undefined;
    if (first.forgetAt <= now) {
      this.leave(first, 'expired');
      return true;
    }
    if (first.exhaustedUntil !== 0 && first.exhaustedUntil <= now) {
      first.exhaustedUntil = 0;
      this.stand(first);
    }
    first.look = Math.min(first.forgetAt, first.exhaustedUntil === 0 ? first.forgetAt : first.exhaustedUntil);
    return false;
  }

  makeRoom(now: number): void {
    for (let looked = 0; looked < 32; looked += 1) {
      const left = this.lookAtDue(now);
      if (left === undefined) break;
      if (left) return;
    }
    const oldest = (this.withBudget[0] ?? this.exhausted[0]) as Kept;
    const why = oldest.exhaustedUntil === 0 ? 'with-budget' : 'exhausted';
    this.leave(oldest, oldest.forgetAt <= now ? 'expired' : why);
  }
}

const key = fc.nat({ max: 11 }).map((n) => `key:${n}`);
const command = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('write' as const),
      key,
      forgetAfter: fc.nat({ max: 60 }),
      exhaustedFor: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 90 })),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('use' as const), key }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat({ max: 20 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('sweep' as const), most: fc.nat({ max: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), key }) },
);

describe('the table of keys', () => {
  it('keeps and drops the keys that the rules, followed on plain arrays, keep and drop', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.array(command, { maxLength: 200, size: 'max' }),
        (max, commands) => {
          const left: string[] = [];
          const table = new KeyTable(max, (slot, gone, why) => {
            expect(table.keyAt(slot)).toBe(gone);
            left.push(`${gone} ${why}`);
          });
          const naive = new NaiveTable();
          let now = 1_000_000;
          // No two moments are the same, so that which key is due first is never left open.
          let moments = 0;
          const unique = (ms: number): number => {
            moments += 1;
            return now + 1_000 * ms + moments / 1_000;
          };
          const write = (name: string, forgetAfter: number, exhaustedFor: number): void => {
            let kept = naive.find(name);
            if (kept === undefined) {
              if (naive.all.length >= max) naive.makeRoom(now);
              const slot = table.add(name, now);
              kept = { key: name, slot, forgetAt: Infinity, exhaustedUntil: 0, look: Infinity };
            } else expect(table.use(name)).toBe(kept.slot);
            naive.stand(kept);
            const forgetAt = unique(forgetAfter);
            const exhaustedUntil = exhaustedFor === 0 ? 0 : unique(exhaustedFor);
            table.settle(kept.slot, forgetAt, exhaustedUntil);
            naive.settle(kept, forgetAt, exhaustedUntil);
          };
          for (const one of commands) {
            if (one.do === 'wait') now += 1_000 * one.ms;
            else if (one.do === 'sweep') {
              table.sweep(now, one.most);
              for (let looked = 0; looked < one.most; looked += 1) naive.lookAtDue(now);
            } else if (one.do === 'write') write(one.key, one.forgetAfter, one.exhaustedFor);
            else {
              const kept = naive.find(one.key);
              expect(table.find(one.key)).toBe(kept?.slot ?? -1);
              if (kept === undefined) continue;
              if (one.do === 'remove') {
                table.remove(kept.slot);
                naive.drop(kept);
              } else {
                table.use(one.key);
                naive.stand(kept);
                table.usedAt(kept.slot, now);
                if (kept.exhaustedUntil !== 0 && kept.exhaustedUntil <= now) naive.settle(kept, kept.forgetAt, 0);
              }
            }
            expect(left).toEqual(naive.left);
            expect(table.size).toBe(naive.all.length);
            for (const kept of naive.all) {
              expect(table.find(kept.key)).toBe(kept.slot);
              expect(table.forgetAt(kept.slot)).toBe(kept.forgetAt);
              expect(table.exhaustedUntil(kept.slot)).toBe(kept.exhaustedUntil);
            }
          }
          // New keys put the others out, in the order in which they would leave.
          for (let i = 0; i < max; i += 1) write(`new:${i}`, 100, 0);
          expect(left).toEqual(naive.left);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('grows with its keys, and every slot keeps what belongs to it', () => {
    const table = new KeyTable(1_000, () => undefined);
    for (let i = 0; i < 1_000; i += 1) {
      const slot = table.add(`key:${i}`, 0);
      table.setChain(slot, i % 7, i, i % 3);
      table.settle(slot, 10_000 + i, i % 2 === 0 ? 0 : 20_000 + i);
    }
    for (let i = 0; i < 1_000; i += 1) {
      const slot = table.find(`key:${i}`);
      expect(table.keyAt(slot)).toBe(`key:${i}`);
      expect([table.headSpace(slot), table.headRow(slot), table.ledgers(slot)]).toEqual([i % 7, i, i % 3]);
      expect(table.forgetAt(slot)).toBe(10_000 + i);
      expect(table.exhaustedUntil(slot)).toBe(i % 2 === 0 ? 0 : 20_000 + i);
    }
  });
});
