import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

it('the store in docs/writing-a-store.md is the one that the suite was run on', () => {
  const [, code] = /^```ts\n([\s\S]*?)^```$/m.exec(read('../../../docs/writing-a-store.md')) ?? [];
  expect(code).toBe(read('./plain-store.ts'));
});
