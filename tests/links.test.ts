/** Every relative link of every page points at a file that exists. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = new URL('..', import.meta.url).pathname;
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...pagesIn('docs'),
  ...readdirSync(join(root, 'packages')).flatMap((name) => pagesIn(`packages/${name}`, false)),
];

function pagesIn(folder: string, recursive = true): string[] {
  const files = readdirSync(join(root, folder), { recursive, encoding: 'utf8' });
  return files.filter((path) => path.endsWith('.md')).map((path) => `${folder}/${path}`);
}

describe('links', () => {
  it.each(pages)('%s points only at what is there', (page) => {
    const text = readFileSync(join(root, page), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '');
    const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] as string);
    const local = targets.filter((target) => !/^(https?:|#)/.test(target)).map((target) => target.replace(/#.*$/, ''));
    expect(local.filter((target) => !existsSync(join(root, dirname(page), target)))).toEqual([]);
  });
});
