/**
 * The docs cannot lie: every `ts` block of README.md, docs/ and the packages' READMEs is type-checked and run. A line
 * `expression; // => expected` is an assertion. A block marked `ts check` needs a server: it is type-checked only.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

interface Block {
  readonly name: string;
  readonly file: string;
  readonly run: boolean;
}

function isPrivate(name: string): boolean {
  return readFileSync(join(root, 'packages', name, 'package.json'), 'utf8').includes('"private": true');
}

const root = new URL('..', import.meta.url).pathname;
const folder = join(root, 'tests', '.docs');
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => `docs/${path}`),
  ...readdirSync(join(root, 'packages'))
    .filter((name) => !isPrivate(name))
    .map((name) => `packages/${name}/README.md`),
].filter((page) => ts.sys.fileExists(join(root, page)));

/** `expression; // => expected` becomes a call that compares. */
function withAssertions(code: string): string {
  const checked = code.replace(/^( *)([^/\n].*?);? \/\/ => (.+)$/gm, '$1__same($2, $3);');
  return `import { same as __same } from '../docs-same.js';\n${checked}\nexport {};\n`;
}

function blocksOf(page: string): Block[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^```(ts|ts check)\n([\s\S]*?)^```$/gm)].map((match, index) => {
    const file = join(folder, `${page.replaceAll(/[^A-Za-z0-9]+/g, '-')}-${index + 1}.ts`);
    writeFileSync(file, withAssertions(match[2] as string));
    const line = text.slice(0, match.index).split('\n').length;
    return { name: `${page}:${line}`, file, run: match[1] === 'ts' };
  });
}

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const blocks = pages.flatMap(blocksOf);

describe('the code in the docs', () => {
  let problems: readonly ts.Diagnostic[] = [];

  beforeAll(() => {
    const base = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile).config as unknown;
    const { options } = ts.parseJsonConfigFileContent(base, ts.sys, root);
    const program = ts.createProgram(
      blocks.map((block) => block.file),
      { ...options, noEmit: true, noUnusedLocals: false, allowUnusedLabels: true },
    );
    problems = ts.getPreEmitDiagnostics(program);
  }, 120_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is there', () => {
    expect(blocks.length).toBeGreaterThan(10);
  });

  it.each(blocks)('$name compiles', ({ file }) => {
    const own = problems.filter((problem) => problem.file === undefined || problem.file.fileName === file);
    expect(own.map((problem) => ts.flattenDiagnosticMessageText(problem.messageText, '\n'))).toEqual([]);
  });

  it.each(blocks.filter((block) => block.run))('$name runs and says the truth', async ({ file }) => {
    await import(/* @vite-ignore */ file);
  });
});
