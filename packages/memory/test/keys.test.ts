import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryStore } from '../src/index.js';
import { keyOf, markerKeyOf, valuesOf } from '../src/keys.js';
import { charge, consume, fixed, remaining } from './steps.js';

/** Strings that look like what the encoding is made of, beside any string at all. */
const value = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.string({ unit: fc.constantFrom('\u0000', '-', '!', ':', '0', '1', '2', '\ud800'), maxLength: 6 }),
  fc.constantFrom('', '__proto__', 'constructor'),
);
const parts = fc.record({ values: fc.array(value, { maxLength: 3 }), slot: fc.option(value, { nil: undefined }) });

const STRANGE: readonly string[] = [
  '',
  ':',
  '{a}',
  'a\nb',
  '\u0000',
  '\u0000-',
  '\u0000!once',
  '\ud800',
  '\udc00\ud800',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'toString',
  ' ',
  'é',
  'e\u0301',
  'x'.repeat(10_240),
  `${'x'.repeat(10_239)}y`,
];

describe('the key of a ledger', () => {
  it('gives back the values and the slot that it was made of, so no two sets of values share a key', () => {
    fc.assert(
      fc.property(parts, ({ values, slot }) => {
        expect(valuesOf(keyOf({ name: 'a/b', grid: 'f1', values, slot }))).toEqual({ values, slot });
      }),
      { numRuns: 5_000 },
    );
  });

  it('is the value itself when there is one and no slot', () => {
    expect(keyOf({ name: 'a/b', grid: 'f1', values: ['user:17'] })).toBe('user:17');
  });

  it('is never that of a marker', () => {
    fc.assert(
      fc.property(parts, value, ({ values, slot }, key) => {
        expect(keyOf({ name: 'a/b', grid: 'f1', values, slot })).not.toBe(markerKeyOf(key));
      }),
      { numRuns: 2_000 },
    );
    expect(valuesOf(markerKeyOf('api/1'))).toEqual({ values: [], slot: undefined });
  });

  it('may be any string, and every string is a key of its own', () => {
    const store = memoryStore();
    const rule = fixed(10, 60_000);
    for (const [i, key] of STRANGE.entries()) {
      for (let n = 0; n <= i % 5; n += 1) consume(store, charge(rule, key));
    }
    for (const [i, key] of STRANGE.entries()) expect(remaining(store, charge(rule, key))).toBe(10 - 1 - (i % 5));
    expect(store.stats().size).toBe(STRANGE.length);
  });

  it('keeps the ledgers of one set of values apart by name and by grid', () => {
    const store = memoryStore();
    const hour = fixed(10, 3_600_000);
    const minute = fixed(10, 60_000);
    for (const name of ['api/a', 'api/ab', 'apia/b', 'shared', '__proto__']) {
      consume(store, charge(hour, 'x', { name, cost: 2 }), charge(minute, 'x', { name, cost: 3 }));
      expect(remaining(store, charge(hour, 'x', { name }))).toBe(8);
      expect(remaining(store, charge(minute, 'x', { name }))).toBe(7);
    }
    expect(store.stats().size).toBe(1);
  });

  it('one value, two values and a slot are three keys', () => {
    const store = memoryStore();
    const rule = fixed(10, 60_000);
    consume(store, charge(rule, ['a'], { cost: 1 }));
    consume(store, charge(rule, ['a', ''], { cost: 2 }));
    consume(store, charge(rule, ['a'], { cost: 3, slot: '' }));
    expect(remaining(store, charge(rule, ['a']))).toBe(9);
    expect(remaining(store, charge(rule, ['a', '']))).toBe(8);
    expect(remaining(store, charge(rule, ['a'], { slot: '' }))).toBe(7);
    expect(store.stats().size).toBe(3);
  });
});
