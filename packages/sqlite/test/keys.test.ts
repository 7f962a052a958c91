import type { Ledger } from '@limiter/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sqliteStore } from '../src/index.js';
import { escaped, ledgerKey, onceKey } from '../src/keys.js';
import { newFile } from './support/files.js';
import { charge, consume, fixedWindow, only, peek } from './support/steps.js';

/** Any strings at all, and often those that could be mistaken for a part of a key. */
const anyText = fc.oneof(
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) }),
  fc.string({ unit: fc.constantFrom(...'%|:{}!0a\0\ud800\udc00') }),
);
const anyLedger: fc.Arbitrary<Ledger> = fc.record({
  name: fc.constantFrom('a/b', 'a', 'a/b-c'),
  grid: fc.constantFrom('f1000', 'l1000', 'f1000+5'),
  values: fc.array(anyText, { maxLength: 3 }),
  slot: fc.option(anyText, { nil: undefined }),
});

describe('the key of a ledger', () => {
  it('is another one for another ledger or prefix, whatever strings they hold', () => {
    fc.assert(
      fc.property(anyText, anyLedger, anyText, anyLedger, (prefixA, a, prefixB, b) => {
        const same = JSON.stringify([prefixA, a]) === JSON.stringify([prefixB, b]);
        expect(ledgerKey(escaped(prefixA), a) === ledgerKey(escaped(prefixB), b)).toBe(same);
      }),
      { numRuns: 5_000 },
    );
  });

  it('is never that of a used receipt', () => {
    fc.assert(
      fc.property(anyText, anyLedger, anyText, anyText, (prefix, ledger, other, receipt) => {
        expect(ledgerKey(escaped(prefix), ledger)).not.toBe(onceKey(escaped(other), receipt));
      }),
    );
  });

  it('is well-formed text without NUL, which SQLite keeps as it is', () => {
    fc.assert(
      fc.property(anyLedger, (ledger) => {
        const key = ledgerKey('', ledger);
        expect(key).toBe(Buffer.from(key, 'utf8').toString('utf8'));
        expect(key).not.toContain('\0');
      }),
    );
  });

  it('keeps the ledgers of one subject side by side', () => {
    const keyOf = (name: string, values: readonly string[]) => ledgerKey('', { name, grid: 'f1000', values });
    const keys = [
      keyOf('api/day', ['b']),
      keyOf('api/burst', ['a']),
      keyOf('api/day', ['a']),
      keyOf('api/burst', ['b']),
    ];
    expect(keys.sort()).toEqual([
      '|:a|api/burst|f1000',
      '|:a|api/day|f1000',
      '|:b|api/burst|f1000',
      '|:b|api/day|f1000',
    ]);
  });
});

describe('keys in the file', () => {
  it('of ten kilobytes, empty, with NUL, newlines and lone surrogates each have a ledger of their own', () => {
    const store = sqliteStore(newFile());
    const values = [
      [],
      [''],
      ['', ''],
      ['\0'],
      ['a\0b'],
      ['a\0c'],
      ['\n'],
      ['\ud800'],
      ['\udfff'],
      ['\ufffd'],
      ['__proto__'],
      ['x'.repeat(10_000)],
      [`${'x'.repeat(9_999)}y`],
      ['é'],
      ['e\u0301'],
    ];
    const five = fixedWindow(100);
    for (const [i, value] of values.entries()) store.runSync(consume(charge(five, i + 1, value)));
    expect(values.map((value) => 100 - only(store.runSync(peek(charge(five, 1, value)))).remaining)).toEqual(
      values.map((_, i) => i + 1),
    );
  });
});
