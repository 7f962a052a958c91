import type { Ledger } from '@limiter/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyOf, slotTextOf } from '../src/index.js';
import { markerKeyOf } from '../src/keys.js';

/** What Redis Cluster hashes of a key, from its specification. */
function hashed(key: string): string {
  const open = key.indexOf('{');
  const close = key.indexOf('}', open + 1);
  return open === -1 || close === -1 || close === open + 1 ? key : key.slice(open + 1, close);
}

const ledger = (values: readonly string[], slot?: string): Ledger => ({
  name: 'up/device',
  grid: 'b60000',
  values,
  slot,
});

// Pieces that could be mistaken for each other.
const pieces = [
  '',
  ':',
  '{',
  '}',
  '%',
  '%3a',
  '%_',
  '%*',
  '!',
  '*',
  'a',
  '\0',
  '\n',
  '\ud800',
  '\udfff',
  '😀',
  'ü',
  '__proto__',
  '%ud800',
];
const text = fc
  .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary' })), { maxLength: 3 })
  .map((all) => all.join(''));
const ledgers: fc.Arbitrary<Ledger> = fc.record({
  name: fc.constantFrom('a', 'a/b', 'a/b.c', 'ab', 'b'),
  grid: fc.constantFrom('f1', 'f1+1', 'f11', 'b1', 'l1'),
  values: fc.array(text, { maxLength: 3 }),
  slot: fc.option(text, { nil: undefined }),
});

describe('the key of a ledger', () => {
  it.each([
    [ledger(['d7']), 'limiter:{d7}up/device:b60000'],
    [ledger(['d7', 'GET /']), 'limiter:{d7:GET /}up/device:b60000'],
    [ledger(['d7'], 'o1'), 'limiter:{o1}:up/device:b60000:d7'],
    [ledger([]), 'limiter:{%*}up/device:b60000'],
    [ledger(['']), 'limiter:{%_}up/device:b60000'],
    [ledger(['a:b{c}%']), 'limiter:{a%3ab%7bc%7d%25}up/device:b60000'],
    [ledger(['\ud800\0']), 'limiter:{%ud800%00}up/device:b60000'],
  ])('of %j is %s', (one, key) => {
    expect(keyOf(one, 'limiter')).toBe(key);
  });

  it('is never that of another ledger, whatever the strings', () => {
    fc.assert(
      fc.property(ledgers, ledgers, (one, other) => {
        const same = JSON.stringify(one) === JSON.stringify(other);
        expect(keyOf(one, 'limiter') === keyOf(other, 'limiter')).toBe(same);
      }),
      { numRuns: 20_000 },
    );
  });

  it('survives UTF-8 and JSON, and holds nothing that a terminal would obey', () => {
    fc.assert(
      fc.property(ledgers, (one) => {
        const key = keyOf(one, 'limiter');
        expect(Buffer.from(key, 'utf8').toString('utf8')).toBe(key);
        expect(JSON.parse(JSON.stringify(key))).toBe(key);
        expect(key).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
      }),
    );
  });

  it('puts ledgers of one slot text, and only those, into one Cluster slot', () => {
    fc.assert(
      fc.property(ledgers, (one) => {
        expect(hashed(keyOf(one, 'limiter'))).toBe(slotTextOf(one));
        expect(slotTextOf(one)).not.toBe('');
      }),
    );
  });

  it('of 10 kB differs in its last character', () => {
    const long = 'x'.repeat(10_000);
    expect(keyOf(ledger([`${long}a`]), 'limiter')).not.toBe(keyOf(ledger([`${long}b`]), 'limiter'));
  });

  it('is never that of a marker, which lies in the slot of its ledger', () => {
    fc.assert(
      fc.property(ledgers, ledgers, text, (one, beside, key) => {
        const marker = markerKeyOf(key, beside, 'limiter');
        expect(marker).not.toBe(keyOf(one, 'limiter'));
        expect(hashed(marker)).toBe(slotTextOf(beside));
      }),
    );
  });
});
