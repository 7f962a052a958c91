import { expect } from 'vitest';

/** What a line `expression; // => expected` in the docs asserts. */
export function same(actual: unknown, expected: unknown): void {
  if (typeof expected === 'object' && expected !== null && !Array.isArray(expected))
    expect(actual).toMatchObject(expected);
  else expect(actual).toEqual(expected);
}
