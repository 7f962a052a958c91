import type { AskStep, Charge, Rule } from '@limiter/core';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { encodeCall, keyOf } from '../src/index.js';

const rules: readonly Rule[] = [
  { algorithm: 'token-bucket', capacity: 10, refillTokens: 1, refillMs: 1_000 },
  { algorithm: 'token-bucket', capacity: 11, refillTokens: 1, refillMs: 1_000 },
  { algorithm: 'fixed-window', limit: 5, windowMs: 60_000, align: 'clock', offsetMs: 0 },
];

const charge = fc.record({
  ledger: fc.record({
    name: fc.constantFrom('a', 'b'),
    grid: fc.constant('g'),
    values: fc.oneof(fc.tuple(fc.constantFrom('x', 'y')), fc.tuple(fc.constantFrom('x', 'y'), fc.constant('x'))),
    slot: fc.constantFrom(undefined, 's'),
  }),
  rule: fc.constantFrom(...rules),
  cost: fc.constantFrom(0, 1, 2),
  holdBack: fc.constantFrom(0, 3),
  enforce: fc.boolean(),
});
const step: fc.Arbitrary<AskStep> = fc.record({
  op: fc.constantFrom('consume', 'peek'),
  charges: fc.array(charge, { maxLength: 3 }),
});

/** The same step, in which no rule is the very object of another step. */
const apart = ({ op, charges }: AskStep): AskStep => ({
  op,
  charges: charges.map((one): Charge => ({ ...one, rule: { ...one.rule } })),
});

it('a call is written the same whether its steps share their rules or only say the same', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 2, maxLength: 12 }), fc.boolean(), (steps, packedReply) => {
      const options = { prefix: 'limiter', seed: 7, deadline: 1_700_000_000_000, packedReply };
      expect(encodeCall(steps, options)).toEqual(encodeCall(steps.map(apart), options));
    }),
    { numRuns: 2_000 },
  );
});

it('a key that comes again is sent once, and marked for as long as a later step has it', () => {
  const one = (value: string): AskStep => ({
    op: 'consume',
    charges: [
      {
        ledger: { name: 'a', grid: 'g', values: [value] },
        rule: rules[0] as Rule,
        cost: 1,
        holdBack: 0,
        enforce: true,
      },
    ],
  });
  const { keys, args } = encodeCall([one('x'), one('y'), one('x'), one('x')], { prefix: 'p', seed: 7 });
  expect(keys).toEqual(['p:{x}a:g', 'p:{y}a:g']);
  expect(JSON.parse(args[3] as string)).toEqual([1, expect.any(Array), [-1, 2, -1, 1]]);
});

it('every charge is written with the key of its own ledger, whatever the steps before it asked for', () => {
  const full = step.filter(({ charges }) => charges.length > 0);
  fc.assert(
    fc.property(fc.array(full, { minLength: 2, maxLength: 12 }), (steps) => {
      const { keys, args } = encodeCall(steps, { prefix: 'limiter', seed: 7 });
      const [shared, ...groups] = JSON.parse(args[3] as string) as [number, ...(number | number[])[]];
      const places = groups.flatMap((at, i) => (i % 2 === 1 && Array.isArray(at) ? at.map(Math.abs) : []));
      const written = shared === 1 ? places.map((place) => keys[place - 1]) : keys;
      expect(written).toEqual(steps.flatMap(({ charges }) => charges.map(({ ledger }) => keyOf(ledger, 'limiter'))));
    }),
    { numRuns: 2_000 },
  );
});
