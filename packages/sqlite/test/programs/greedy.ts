/** Holds the write lock of a file for 0.2 ms at a time and takes it again at once, until it is killed: `greedy FILE`. Writes a byte when it begins. */
import { writeSync } from 'node:fs';
import { openDatabase } from '../../src/driver.js';

const database = openDatabase(process.argv[2] ?? '');
const begin = database.prepare('BEGIN IMMEDIATE');
const commit = database.prepare('COMMIT');
writeSync(1, '.');
for (;;) {
  try {
    begin.run();
  } catch {
    continue;
  }
  for (const until = performance.now() + 0.2; performance.now() < until; );
  commit.run();
}
