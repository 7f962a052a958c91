import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

/** Who may know whom. Every arrow points towards core, and no store knows another store. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  core: [],
  memory: ['core'],
  sqlite: ['core'],
  'redis-lua': ['core'],
  redis: ['core', 'redis-lua'],
  upstash: ['core', 'redis-lua'],
  'store-suite': ['core'],
  http: ['core'],
  client: ['core'],
  policy: ['core'],
  telemetry: ['core'],
  replay: ['core', 'memory', 'policy'],
  // Real servers for tests; private, and like the suite never imported by sources.
  'test-servers': [],
};
const TESTS_ONLY = ['store-suite', 'test-servers'];
const STORES = ['memory', 'sqlite', 'redis', 'upstash'];

interface Import {
  readonly file: string;
  readonly specifier: string;
}
interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}
interface Package {
  readonly name: string;
  readonly src: string;
  readonly manifest: Manifest;
  readonly imports: readonly Import[];
}

const root = resolve(import.meta.dirname, '..');

/** Every specifier of a package's sources: import, export from, import type, import() and require(). */
function readPackage(name: string): Package {
  const src = join(root, 'packages', name, 'src');
  const files = existsSync(src) ? readdirSync(src, { recursive: true, encoding: 'utf8' }) : [];
  return {
    name,
    src,
    manifest: JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')) as Manifest,
    imports: files
      .filter((file) => /\.[cm]?tsx?$/.test(file))
      .map((file) => join(src, file))
      .flatMap((file) =>
        ts
          .preProcessFile(readFileSync(file, 'utf8'), true, true)
          .importedFiles.map(({ fileName }) => ({ file: relative(root, file), specifier: fileName })),
      ),
  };
}

const isRelative = (specifier: string): boolean => specifier.startsWith('.');
const isNode = (specifier: string): boolean => specifier.startsWith('node:');
/** `@scope/name/sub` and `name/sub` belong to `@scope/name` and `name`. */
const owner = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
const neighbour = (specifier: string): string | undefined => /^@limiter\/([^/]+)/.exec(specifier)?.[1];
const say = ({ file, specifier }: Import): string => `${file} imports ${specifier}`;

const packages = readdirSync(join(root, 'packages'))
  .filter((name) => existsSync(join(root, 'packages', name, 'package.json')))
  .map(readPackage);

/** What a package's sources import from outside themselves, Node's own modules aside. */
const foreign = (p: Package): readonly Import[] =>
  p.imports.filter(({ specifier }) => !isRelative(specifier) && !isNode(specifier));

describe('the packages know each other in one direction only', () => {
  it('every package has its place in the table of arrows', () => {
    expect(packages.map((p) => p.name).filter((name) => !(name in ARROWS))).toEqual([]);
  });

  it('the table itself has no circle, and no store in it knows another store', () => {
    const reach = (name: string, path: readonly string[]): void => {
      expect(path, `a circle: ${[...path, name].join(' -> ')}`).not.toContain(name);
      for (const next of ARROWS[name] ?? []) reach(next, [...path, name]);
    };
    for (const name of Object.keys(ARROWS)) reach(name, []);
    for (const store of STORES) {
      expect(
        ARROWS[store]?.filter((known) => STORES.includes(known)),
        store,
      ).toEqual([]);
    }
  });

  it('core imports nothing outside itself, not even from Node', () => {
    const core = packages.find((p) => p.name === 'core');
    expect(core?.imports.filter(({ specifier }) => !isRelative(specifier)).map(say)).toEqual([]);
  });

  describe.each(packages.map((p) => [p.name, p] as const))('@limiter/%s', (_name, p) => {
    it('imports only the neighbours that its arrows allow', () => {
      const wrong = foreign(p).filter(({ specifier }) => {
        const to = neighbour(specifier);
        return to !== undefined && !ARROWS[p.name]?.includes(to);
      });
      expect(wrong.map(say)).toEqual([]);
    });

    it('never imports the suite, a test server or anything of its own tests into its sources', () => {
      const leaving = p.imports.filter(({ file, specifier }) => {
        if (!isRelative(specifier)) return TESTS_ONLY.includes(neighbour(specifier) ?? '');
        return !resolve(root, dirname(file), specifier).startsWith(p.src + sep);
      });
      expect(leaving.map(say)).toEqual([]);
    });

    it('declares everything that it imports', () => {
      const { dependencies, peerDependencies, optionalDependencies } = p.manifest;
      const declared = Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies });
      expect(
        foreign(p)
          .filter(({ specifier }) => !declared.includes(owner(specifier)))
          .map(say),
      ).toEqual([]);
    });

    // A peer may go without an import: it is the client that the caller hands in.
    it('imports every dependency that it declares', () => {
      const written = p.imports.length > 0 || p.name === 'core';
      const imported = new Set(foreign(p).map(({ specifier }) => owner(specifier)));
      const { dependencies, optionalDependencies } = p.manifest;
      const unused = Object.keys({ ...dependencies, ...optionalDependencies }).filter((name) => !imported.has(name));
      expect(written ? unused : []).toEqual([]);
    });
  });
});
