/** Database files in a folder of their own, removed when the test file ends. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

let folder: string | undefined;
let files = 0;

export function newFile(): string {
  folder ??= mkdtempSync(join(tmpdir(), 'limiter-sqlite-'));
  files += 1;
  return join(folder, `limits-${files}.db`);
}

afterAll(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});
