import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Corrupt } from '../src/faults.js';
import { pack, unpack } from '../src/numbers.js';

const MOST = Number.MAX_SAFE_INTEGER;
const whole = fc.oneof(fc.nat(300), fc.maxSafeNat());

describe('a list of whole numbers in a BLOB', () => {
  it('is read back as it was written, up to 2^53-1, with entries whose times never go back', () => {
    fc.assert(
      fc.property(fc.array(whole), fc.array(fc.tuple(whole, whole)), (head, pairs) => {
        const entries = pairs.sort(([a], [b]) => a - b).flat();
        expect(unpack(Uint8Array.from(pack(head, entries)), head.length)).toEqual([...head, ...entries]);
      }),
    );
  });

  it('takes two bytes for an entry of cost 1 that follows within 127 ms', () => {
    const entries = Array.from({ length: 50 }, (_, i) => [2 ** 40 + i * 127, 1]).flat();
    expect(pack([], entries).length).toBe(2 * 50 + 5);
  });

  it('is corrupt when it was cut, is too short for its head, or says more than 2^53-1', () => {
    const list = Uint8Array.from(pack([1, MOST], [5, 6]));
    expect(unpack(list, 2)).toEqual([1, MOST, 5, 6]);
    for (const [blob, head] of [
      [list.subarray(0, 5), 2],
      [list, 5],
      [list, 1],
      [Uint8Array.from([255, 255, 255, 255, 255, 255, 255, 127]), 1],
      [new Uint8Array(400).fill(255), 0],
      [Uint8Array.from([...new Uint8Array(300).fill(128), 0]), 1],
      [Uint8Array.from([...pack([], [MOST, 1]), 1, 1]), 0],
      [null, 0],
      ['text', 0],
    ] as const) {
      expect(() => unpack(blob, head)).toThrow(Corrupt);
    }
  });
});
