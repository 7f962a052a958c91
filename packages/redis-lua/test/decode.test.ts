import type { Step } from '@limiter/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeReply, faultOfError } from '../src/index.js';

const ledger = { name: 'up/device', grid: 'b1000', values: ['d7'] };
const bucket = { algorithm: 'token-bucket', capacity: 10, refillTokens: 1, refillMs: 1_000 } as const;
const log = { algorithm: 'sliding-window-log', limit: 10, windowMs: 1_000 } as const;
const consume: Step = { op: 'consume', charges: [{ ledger, rule: bucket, cost: 1, holdBack: 0, enforce: true }] };
const both: Step = {
  op: 'consume',
  charges: [
    { ledger, rule: bucket, cost: 1, holdBack: 0, enforce: true },
    { ledger: { ...ledger, grid: 'l1000' }, rule: log, cost: 1, holdBack: 0, enforce: true },
  ],
};
const refund: Step = {
  op: 'adjust',
  adjustments: [
    { ledger, rule: bucket, mark: { id: 1, at: 1, position: 1 }, charged: 1, change: 'give-back', amount: 1 },
  ],
};
const reset: Step = { op: 'reset', ledgers: [ledger] };

/** As the program packs a reply, somewhere in a larger buffer, as clients hand it over. */
function packed(...numbers: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(3 + 8 * numbers.length);
  const view = new DataView(bytes.buffer);
  for (const [i, number] of numbers.entries()) view.setFloat64(3 + 8 * i, number, true);
  return bytes.subarray(3);
}

describe('a reply that is not ours', () => {
  it.each([
    ['null', null],
    ['nothing', undefined],
    ['a number', 1],
    ['OK', 'OK'],
    ['an empty list', []],
    ['a time alone', [1_700_000_000_000]],
    ['an item too many', [1_700_000_000_000, 9, 1, 5, 5]],
    ['an item too few', [1_700_000_000_000, 9, 1]],
    ['a fraction', [1_700_000_000_000, 0.5]],
    ['text that is no number', [1_700_000_000_000, 'nine']],
    ['a number that was rounded on its way', [1_700_000_000_000, 2 ** 53]],
    ['lists in the list', [1_700_000_000_000, [9]]],
    ['no bytes', packed()],
    ['bytes that are no numbers', new Uint8Array(12)],
    ['a packed number too many', packed(1_700_000_000_000, 9, 1, 5, 5)],
    ['a packed number too few', packed(1_700_000_000_000, 9, 1)],
    ['a packed fraction', packed(1_700_000_000_000, 9, 0.5, 5)],
    ['a packed NaN', packed(1_700_000_000_000, Number.NaN, 1, 5)],
  ])('is a fault and never an admission: %s', (_, reply) => {
    expect(decodeReply(reply, [consume])).toMatchObject([{ ok: false, fault: 'unknown-outcome' }]);
  });

  it('is a fault of every step, never an exception, whatever it is', () => {
    const steps = [consume, both, refund, reset];
    const item = fc.oneof(fc.integer({ min: -200, max: 2 ** 31 }), fc.maxSafeInteger(), fc.string(), fc.constant(null));
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.array(item, { maxLength: 12 })), (reply) => {
        const outcomes = decodeReply(reply, steps);
        expect(outcomes).toHaveLength(4);
        for (const outcome of outcomes) {
          if (outcome.ok) expect(Number.isSafeInteger(outcome.now)).toBe(true);
          else expect(['unknown-outcome', 'corrupt']).toContain(outcome.fault);
        }
      }),
      { numRuns: 5_000 },
    );
  });
});

it('reads numbers that arrive as text, as some clients and transports hand them on', () => {
  const numbers = decodeReply([1_700_000_000_000, 9, 1, 5], [consume]);
  expect(decodeReply(['1700000000000', '9', '1', '5'], [consume])).toEqual(numbers);
  expect(numbers).toMatchObject([
    { ok: true, allowed: true, verdicts: [{ admits: true, charged: true, remaining: 9 }] },
  ]);
});

it('reads a packed reply as the list of its numbers', () => {
  const numbers = [1_700_000_000_000, 9, Number.MAX_SAFE_INTEGER, 5, -2, 1];
  const steps = [consume, consume];
  expect(decodeReply(packed(...numbers), steps)).toEqual(decodeReply(numbers, steps));
  expect(decodeReply(packed(...numbers), steps)).toMatchObject([{ ok: true, allowed: true }, { ok: false }]);
});

it('names the ledger whose key holds something else, and keeps the other steps', () => {
  const outcomes = decodeReply([1_700_000_000_000, -2, 1, 9, 1, 5], [consume, consume]);
  expect(outcomes).toMatchObject([
    { ok: false, fault: 'corrupt' },
    { ok: true, allowed: true },
  ]);
  expect(String((outcomes[0] as { cause: unknown }).cause)).toContain('up/device');
});

it.each([
  ["OOM command not allowed when used memory > 'maxmemory'.", 'refused'],
  ["READONLY You can't write against a read only replica.", 'refused'],
  ['LIMITERLATE 1700000000000', 'refused'],
  ["LIMITERPARTIAL NOPERM this user has no permissions to run the 'zadd' command", 'unknown-outcome'],
])('the error reply %j means %s', (message, fault) => {
  expect(faultOfError(message)).toBe(fault);
});
