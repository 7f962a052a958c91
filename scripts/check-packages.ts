import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/**
 * Checks every package as other people will get it: packed, unpacked into a folder of its own, and loaded from there.
 * publint and attw read the tarball; then plain Node imports every entry, so a forgotten file or a leaked
 * `@limiter/source` condition fails here and not at somebody's desk.
 */
interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const root = resolve(import.meta.dirname, '..');
const stage = mkdtempSync(join(tmpdir(), 'limiter-packages-'));
const problems: string[] = [];
const read = (file: string): Manifest => JSON.parse(readFileSync(file, 'utf8')) as Manifest;

function check(what: string, command: string, args: readonly string[], cwd = root): void {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status === 0) return;
  problems.push(what);
  console.error(`\n${what}\n${stdout}${stderr}`);
}

const folders = readdirSync(join(root, 'packages'))
  .map((name) => join(root, 'packages', name))
  .filter((folder) => existsSync(join(folder, 'package.json')) && !read(join(folder, 'package.json')).private);

// Pack all of them first: they import each other.
const installed = folders.map((folder) => {
  const { name, dependencies, peerDependencies } = read(join(folder, 'package.json'));
  const tarball = join(stage, `${name.replace(/[@/]/g, '_')}.tgz`);
  execFileSync('pnpm', ['pack', '--out', tarball], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  const target = join(stage, 'node_modules', name);
  mkdirSync(target, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', target, '--strip-components=1']);
  for (const other of Object.keys({ ...dependencies, ...peerDependencies })) {
    const link = join(stage, 'node_modules', other);
    const at = [folder, root].map((from) => join(from, 'node_modules', other)).find(existsSync);
    if (other.startsWith('@limiter/') || at === undefined || existsSync(link)) continue;
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(at, link);
  }
  return { name, tarball, target };
});

for (const { name, tarball, target } of installed) {
  check(`publint: ${name}`, 'publint', ['run', tarball, '--strict']);
  check(`attw: ${name}`, 'attw', [tarball, '--profile', 'esm-only', '--no-emoji', '--no-color']);
  const { exports, bin } = read(join(target, 'package.json'));
  if (JSON.stringify(exports).includes('@limiter/source')) problems.push(`${name} leaks its source condition`);
  for (const subpath of Object.keys(exports)) {
    if (subpath.includes('*') || subpath.endsWith('.json')) continue;
    // A suite is loaded by its runner, not by plain Node.
    if (name === '@limiter/store-suite') continue;
    const entry = join(name, subpath);
    check(`import: ${entry}`, process.execPath, ['--input-type=module', '-e', `await import('${entry}')`], stage);
  }
  for (const file of Object.values(bin ?? {})) {
    check(`run: ${name} ${file} --help`, process.execPath, [join(target, file), '--help'], stage);
  }
}

rmSync(stage, { recursive: true, force: true });
console.log(`${installed.length} packages checked as packed, ${problems.length} problems`);
if (problems.length > 0) {
  console.error(problems.map((problem) => `  ${problem}`).join('\n'));
  process.exit(1);
}
