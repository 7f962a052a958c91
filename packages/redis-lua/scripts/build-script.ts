/**
 * Joins lua/*.lua into src/script.generated.ts, without comments and indentation, together with its SHA-1, so that the package
 * reads no file and needs no node: module. A line `--@ name` stands for lua/shared/name.lua: what several parts do alike is written once
 * and still costs no function. `--@ name 2` stands for the same with the variables of the second charge of a step (a2 for a, ...).
 * Run it after every change in lua/; a test compares.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** A line without its comment. No string of the program holds two dashes. */
const bare = (line: string): string => line.replace(/--.*$/, '').trim();

/** The variables that each charge of a step has for itself in lua/1-few.lua and 2-plain.lua. */
const OWN = /\b(k|more|is|a|b|c|d|e|view|reached|level|admits|changed|life|asks|bucket|rate|second|cost|most)\b/g;

function linesOf(path: string, charge = ''): readonly string[] {
  const lines = readFileSync(join(root, 'lua', path), 'utf8').split('\n');
  return lines.flatMap((line) => {
    const [, name, number] = /^\s*--@ ([a-z-]+)(?: (\d))?$/.exec(line) ?? [];
    if (name !== undefined) return linesOf(`shared/${name}.lua`, number ?? charge);
    const text = bare(line);
    return [charge === '' ? text : text.replace(OWN, `$1${charge}`).replace(/\bplace\b/g, charge)];
  });
}

export function joined(): string {
  const parts = readdirSync(join(root, 'lua')).filter((name) => name.endsWith('.lua'));
  return parts
    .sort()
    .flatMap((part) => linesOf(part))
    .filter((line) => line !== '')
    .join('\n');
}

export function generated(): string {
  const script = joined();
  const sha1 = createHash('sha1').update(script).digest('hex');
  return [
    '// Generated from lua/*.lua by scripts/build-script.ts; edit those.',
    '/** The Lua program. */',
    `export const script: string = ${JSON.stringify(script)};`,
    '/** SHA-1 of the program, by which EVALSHA names it: 40 hex digits. */',
    `export const scriptSha1: string = '${sha1}';`,
    '',
  ].join('\n');
}

if (process.argv[1] === import.meta.filename) {
  writeFileSync(join(root, 'src/script.generated.ts'), generated());
}
