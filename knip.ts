import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { KnipConfig } from 'knip';

/** A package that is only announced (`export {};`) uses nothing yet, so there is nothing to find in it. */
const announced = readdirSync('packages').filter((name) => {
  const index = `packages/${name}/src/index.ts`;
  return existsSync(index) && readFileSync(index, 'utf8').trim() === 'export {};';
});
/** The rivals are listed before each of them is measured. */
const rivalsPending = readFileSync('benchmarks/run.ts', 'utf8').includes('No benchmark');

const config: KnipConfig = {
  ignoreExportsUsedInFile: true,
  // An optional peer is the client that the caller brings.
  rules: { types: 'off', enumMembers: 'off', catalog: 'off', optionalPeerDependencies: 'off' },
  ignoreBinaries: ['apt-get', 'redis-server', 'redis-cli'],
  ignoreWorkspaces: announced.map((name) => `packages/${name}`),
  workspaces: {
    '.': {
      entry: ['scripts/*.ts', 'tests/**/*.ts', 'vitest.mutation.config.ts'],
      // A command that scripts/check-packages.ts runs; what the code in docs/ imports.
      ignoreDependencies: [
        '@arethetypeswrong/cli',
        '@limiter/.*',
        '@types/better-sqlite3',
        '@upstash/redis',
        'ioredis',
      ],
      project: ['scripts/**/*.ts', 'tests/**/*.ts', '*.ts'],
    },
    'packages/*': {
      // Some files of a test run as programs of their own.
      entry: ['test/**/*.ts', 'test-d/**/*.ts'],
      project: ['src/**/*.ts', 'test/**/*.ts', 'test-d/**/*.ts'],
    },
    examples: { entry: ['*.ts', 'test/**/*.ts'], project: ['**/*.ts'] },
    benchmarks: { entry: ['*.ts', '*/*.ts'], project: ['**/*.ts'], ignoreDependencies: rivalsPending ? ['.*'] : [] },
  },
};

export default config;
