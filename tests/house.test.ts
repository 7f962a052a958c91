import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const exists = (file: string): boolean => existsSync(join(root, file));
const packageManager = (JSON.parse(read('package.json')) as { packageManager: string }).packageManager;

describe('the house keeps its own word', () => {
  it.each(['README.md', 'CONTRIBUTING.md'].filter(exists))(
    '%s names the two commands that a fresh clone needs',
    (file) => {
      const text = read(file);
      expect(text).toContain(`npx --yes ${packageManager} demo`);
      expect(text).toContain(`npx --yes ${packageManager} test`);
    },
  );

  it.each(['README.md', 'CONTRIBUTING.md', '.ci/run'].filter(exists))(
    '%s speaks of one pnpm version, the one in package.json',
    (file) => {
      const named = read(file).match(/pnpm@[\d.]+\d/g) ?? [];
      expect(new Set([...named, packageManager])).toEqual(new Set([packageManager]));
    },
  );
});
