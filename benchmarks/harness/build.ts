/**
 * Makes the programs that are measured: plain ES2023 files that Node runs without a loader. Ours is compiled from the sources
 * by esbuild, as a build or a user's bundler does; rivals, drivers and Node's own modules are loaded as they were installed.
 */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build, type Plugin } from 'esbuild';

const folder: string = join(import.meta.dirname, '..');
const out: string = join(folder, 'dist');

interface Manifest {
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

function installed(): string[] {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const names = [...Object.keys(manifest.devDependencies), ...Object.keys(manifest.optionalDependencies)];
  return names.filter((name) => !name.startsWith('@limiter/'));
}

/** `import.meta` of a source file still means that file. */
const places: Plugin = {
  name: 'places',
  setup({ onLoad }) {
    onLoad({ filter: /packages\/(replay|test-servers)\/src\/.*\.ts$/ }, ({ path }) => {
      const place = `Object.assign(Object.create(null), { url: ${JSON.stringify(`file://${path}`)}, dirname: ${JSON.stringify(join(path, '..'))}, filename: ${JSON.stringify(path)} })`;
      return { contents: readFileSync(path, 'utf8').replaceAll('import.meta', `(${place})`), loader: 'ts' };
    });
  },
};

/** @returns the path of each entry's program, in order. */
export async function programs(entries: readonly string[]): Promise<string[]> {
  await build({
    entryPoints: entries.map((entry) => join(folder, entry)),
    outdir: out,
    outbase: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'es2023',
    conditions: ['@limiter/source'],
    external: installed(),
    plugins: [places],
    banner: {
      js: "import { createRequire as __makeRequire } from 'node:module'; const require = __makeRequire(import.meta.url);",
    },
    logLevel: 'warning',
  });
  return entries.map((entry) => join(out, entry, '..', `${basename(entry, '.ts')}.mjs`));
}
