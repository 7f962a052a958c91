import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { withTables } from '../scripts/store-table.js';

it('docs/choosing-a-store.md says what the stores say of themselves and what was measured', async () => {
  const page = readFileSync(new URL('../docs/choosing-a-store.md', import.meta.url), 'utf8');
  expect(await withTables(page)).toBe(page);
});
