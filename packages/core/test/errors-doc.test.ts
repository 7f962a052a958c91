import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

describe('docs/errors.md', () => {
  it('has a section for each code of the union, and for no other', () => {
    const codes = [...read('../src/errors.ts').matchAll(/^ {2}\| '(ERR_LIMITER_\w+)'/gm)].map((match) => match[1]);
    const sections = [...read('../../../docs/errors.md').matchAll(/^### (ERR_LIMITER_\w+)$/gm)].map(
      (match) => match[1],
    );
    expect(codes.length).toBeGreaterThan(15);
    expect(sections.toSorted()).toEqual(codes.toSorted());
  });
});
