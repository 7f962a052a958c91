/** In a file that the processes of this machine share: SQLITE_FILE, or limits.db in the temporary folder. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStore } from '@limiter/sqlite';
import { theProgram } from './the-program.js';

await theProgram(sqliteStore(process.env['SQLITE_FILE'] ?? join(tmpdir(), 'limits.db')));
