import { existsSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';

/**
 * What judges a mutant: the tests of core's algorithms and limiter, and the published suite, run on core's algorithms by memory.
 * Mutants live in a copy of the house whose `node_modules` still point at the original, hence the aliases.
 */
const alias = readdirSync('packages')
  .filter((name) => existsSync(`packages/${name}/src/index.ts`))
  .map((name) => ({ find: new RegExp(`^@limiter/${name}$`), replacement: resolve(`packages/${name}/src/index.ts`) }));

export default defineConfig({
  resolve: { alias },
  test: {
    include: [
      'packages/core/test/evaluate.test.ts',
      'packages/core/test/{algorithms,limiter}/*.test.ts',
      'packages/memory/test/suite.test.ts',
    ],
    pool: 'forks',
    testTimeout: 30_000,
    bail: 1,
  },
});
