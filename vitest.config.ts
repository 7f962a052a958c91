import { existsSync, readdirSync } from 'node:fs';
import { defaultServerConditions } from 'vite';
import { defineConfig, type TestProjectConfiguration } from 'vitest/config';

/**
 * One project a package, found by its folder, plus the project "house" for what concerns all of them.
 * `packages/<name>/test/global-setup.ts` and `packages/<name>/test/setup.ts` are picked up where they exist.
 */
const source = ['@limiter/source', ...defaultServerConditions];

function project(name: string, root: string, folder: string): TestProjectConfiguration {
  const own = (file: string): string[] => (existsSync(`${root}/${folder}/${file}`) ? [`./${folder}/${file}`] : []);
  return {
    root,
    resolve: { conditions: source },
    ssr: { resolve: { conditions: source } },
    test: {
      name,
      include: [`${folder}/**/*.test.ts`],
      globalSetup: own('global-setup.ts'),
      setupFiles: own('setup.ts'),
      pool: 'forks',
      testTimeout: 30_000,
      hookTimeout: 30_000,
    },
  };
}

const packages = readdirSync('packages').filter((name) => existsSync(`packages/${name}/package.json`));

export default defineConfig({
  test: {
    projects: [
      ...packages.map((name) => project(name, `packages/${name}`, 'test')),
      project('examples', 'examples', 'test'),
      project('house', '.', 'tests'),
    ],
    reporters: ['default', './scripts/closing-line-reporter.ts'],
    coverage: { include: ['packages/*/src/**'], reporter: ['text-summary', 'html'] },
  },
});
