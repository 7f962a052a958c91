/** The text of receipts: what was made once may be used again only where nothing else was charged. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Ledger, Mark } from '../src/index.js';
import { endReceipt, FIRST_ENTRY, LATER_ENTRY, ReceiptEntries } from '../src/receipt-text.js';

interface Charged {
  readonly values: readonly string[];
  readonly slot: string | undefined;
  readonly charged: number;
  readonly mark: Mark | undefined;
}

const few = fc.constantFrom(0, 1, 999, 1_700_000_000_000, Number.MAX_SAFE_INTEGER);
const charge: fc.Arbitrary<Charged> = fc.record({
  values: fc.constantFrom(['a'], ['a'], ['a'], ['b'], ['"\n'], [], ['a', 'b']),
  slot: fc.constantFrom(undefined, undefined, undefined, 'a', ''),
  charged: few,
  mark: fc.option(fc.record({ id: few, at: fc.oneof(few, fc.constant(-1)), position: few }), {
    nil: undefined,
    freq: 9,
  }),
});

function entry({ values, slot, charged, mark }: Charged): unknown {
  const place = mark === undefined ? [] : [mark.id, mark.at, mark.position];
  return ['burst', 'api/burst', 'b', 5, 2, 1_000, values, slot ?? null, charged, ...place];
}

describe('the text of a receipt', () => {
  it('names what was charged, whatever was charged just before', () => {
    fc.assert(
      fc.property(fc.array(fc.array(charge, { minLength: 1, maxLength: 3 }), { maxLength: 20 }), (receipts) => {
        const rule = { algorithm: 'token-bucket', capacity: 5, refillTokens: 2, refillMs: 1_000 } as const;
        const entries = new ReceiptEntries('burst', 'api/burst', rule);
        for (const charges of receipts) {
          let text = '[1';
          charges.forEach(({ values, slot, charged, mark }, i) => {
            const ledger: Ledger = { name: 'api/burst', grid: 'b1000', values, slot };
            text = entries.add(text, i === 0 ? FIRST_ENTRY : LATER_ENTRY, ledger, charged, mark);
          });
          expect(JSON.parse(endReceipt(text, true))).toEqual([1, ...charges.map(entry)]);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
