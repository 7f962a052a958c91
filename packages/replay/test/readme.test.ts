import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { AXES } from '../src/axes.js';
import { parseLimitText } from '../src/limit-text.js';
import { main } from '../src/main.js';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const readme = readFileSync(at('../README.md'), 'utf8');

async function help(): Promise<string> {
  let text = '';
  const write = (more: string): void => {
    text += more;
  };
  await main(['replay', '--help'], { stdout: { write }, stderr: { write }, env: {} });
  return text;
}

describe('the README', () => {
  it('explains every code that the command can answer with', () => {
    const codes = [...readFileSync(at('../src/errors.ts'), 'utf8').matchAll(/'(ERR_LIMITER_\w+)'/g)].map(
      ([, code]) => code,
    );
    expect(codes.length).toBeGreaterThan(2);
    expect(codes.filter((code) => !readme.includes(`\`${code}\``))).toEqual([]);
  });

  it('and the help name every axis', async () => {
    const text = await help();
    expect(AXES.filter((axis) => !readme.includes(`\`${axis}\``) || !text.includes(axis))).toEqual([]);
  });

  it('and the help show only limits that can be read', async () => {
    const shown = [...`${readme}${await help()}`.matchAll(/--limit '([^']+)'/g)].map(([, limit]) => limit as string);
    expect(shown.length).toBeGreaterThan(5);
    for (const limit of shown) expect(() => parseLimitText(limit)).not.toThrow();
  });

  it('has an example that runs and says the truth', async () => {
    const code = /```js\n([\s\S]*?)```/.exec(readme)?.[1] as string;
    const file = at('./readme-example.generated.mjs');
    writeFileSync(file, code.replace(/^(.*); \/\/ => (.*)$/m, 'export const said = $1;\nexport const expected = $2;'));
    try {
      const { said, expected } = (await import(file)) as { said: unknown; expected: unknown };
      expect(expected).toBe(405);
      expect(said).toBe(expected);
    } finally {
      rmSync(file);
    }
  });
});
