/** What reaches a user: bytes after a bundler, a minifier and gzip; and the time of a cold import. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { emit } from '../harness/emit.js';
import type { Entry, Role } from '../harness/result.js';
import { roundsOr } from '../harness/settings.js';

const folder = join(import.meta.dirname, '..', '..');
const DRIVERS = ['ioredis', '@upstash/redis', 'better-sqlite3'];

async function bundle(contents: string, external: readonly string[] = DRIVERS): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: folder, loader: 'ts' },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'es2023',
    conditions: ['@limiter/source'],
    external: [...external],
  });
  return outputFiles[0]?.text ?? '';
}

const gzipped = (text: string): number => gzipSync(text, { level: 9 }).length;

interface Piece {
  readonly name: string;
  readonly role: Role;
  readonly code: string;
  /** What is there already: only the bytes beyond it count. */
  readonly beyond?: string;
}

const CORE = "export { createLimiter, tokenBucket } from '@limiter/core';";
const store = (name: string, what: string): Piece => ({
  name: `${what} beyond core`,
  role: 'ours',
  code: `${CORE} export { ${what} } from '@limiter/${name}';`,
  beyond: CORE,
});
const peer = (name: string, code: string): Piece => ({ name, role: 'peer', code });
const PIECES: readonly Piece[] = [
  { name: 'createLimiter + tokenBucket', role: 'ours', code: CORE },
  {
    name: 'createLimiter + fixedWindow',
    role: 'ours',
    code: "export { createLimiter, fixedWindow } from '@limiter/core';",
  },
  {
    name: 'createLimiter + slidingWindowLog',
    role: 'ours',
    code: "export { createLimiter, slidingWindowLog } from '@limiter/core';",
  },
  store('memory', 'memoryStore'),
  store('redis', 'redisStore'),
  store('upstash', 'upstashStore'),
  store('sqlite', 'sqliteStore'),
  peer('limiter', "export { TokenBucket } from 'limiter';"),
  peer('rate-limiter-flexible', "export { RateLimiterMemory } from 'rate-limiter-flexible';"),
  peer('@upstash/ratelimit', "export { Ratelimit } from '@upstash/ratelimit';"),
  peer('express-rate-limit', "export { rateLimit } from 'express-rate-limit';"),
  peer('async-ratelimiter', "export { default } from 'async-ratelimiter';"),
  peer('rate-limit-redis', "export { RedisStore } from 'rate-limit-redis';"),
];

const sizes: Entry[] = [];
for (const { name, role, code, beyond } of PIECES) {
  const bytes = gzipped(await bundle(code)) - (beyond === undefined ? 0 : gzipped(await bundle(beyond)));
  sizes.push({ name, role, samples: [bytes / 1_000] });
}
emit({ id: 'size', title: 'Size: minified and gzipped, without drivers', unit: 'kB', better: 'less', entries: sizes });

const core = await bundle(CORE, []);
const pulled = DRIVERS.filter((driver) => core.includes(driver));
emit({
  id: 'size drivers',
  title: 'Size: drivers that core pulls in',
  unit: 'drivers',
  better: 'less',
  entries: [{ name: 'createLimiter + tokenBucket', role: 'ours', samples: [pulled.length] }],
});

const IMPORTS: readonly (readonly [string, Role, string])[] = [
  ['@limiter/core + memory', 'ours', 'ours'],
  ['limiter', 'peer', 'limiter'],
  ['rate-limiter-flexible', 'peer', 'rate-limiter-flexible'],
  ['@upstash/ratelimit', 'peer', '@upstash/ratelimit'],
  ['express-rate-limit', 'peer', 'express-rate-limit'],
];
const mine = join(import.meta.dirname, 'size-ours.mjs');
writeFileSync(
  mine,
  await bundle(
    "export { createLimiter, tokenBucket } from '@limiter/core'; export { memoryStore } from '@limiter/memory';",
    [],
  ),
);
const laps = new Map(IMPORTS.map(([name]) => [name, [] as number[]]));
for (let round = 0; round < roundsOr(11); round += 1) {
  for (const [name, , module] of IMPORTS) {
    const from = JSON.stringify(module === 'ours' ? mine : module);
    const code = `const t = performance.now(); await import(${from}); process.stdout.write(String(performance.now() - t))`;
    const args = ['--input-type=module', '-e', code];
    laps.get(name)?.push(Number(execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })));
  }
}
emit({
  id: 'import',
  title: 'Size: a cold import',
  unit: 'ms',
  better: 'less',
  entries: IMPORTS.map(([name, role]): Entry => ({ name, role, samples: laps.get(name) as number[] })),
  note: 'Ours as one bundled file, the others as they are installed.',
});
