import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * better-sqlite3 is a native addon, bound to the Node that built it, and optional: a machine without a compiler can
 * still run the demo. The tests need it, so it is built here when it does not load.
 */
const require = createRequire(import.meta.url);

function loads(): boolean {
  const probe = "new (require('better-sqlite3'))(':memory:').close()";
  return spawnSync(process.execPath, ['-e', probe], { stdio: 'ignore', cwd: import.meta.dirname }).status === 0;
}

if (!loads()) {
  console.log('better-sqlite3 does not load in this Node: building it (2 to 5 minutes, once).');
  const prefix = dirname(dirname(process.execPath));
  const headers = existsSync(join(prefix, 'include/node/node.h')) ? { npm_config_nodedir: prefix } : {};
  try {
    spawnSync('pnpm', ['rebuild', 'better-sqlite3'], {
      stdio: ['ignore', 'ignore', 'inherit'],
      cwd: dirname(dirname(require.resolve('better-sqlite3/package.json'))),
      env: { ...headers, ...process.env },
    });
  } catch {}
  if (!loads()) {
    console.error(
      'The tests need better-sqlite3. Give it a compiler and try again:\n  sudo apt-get install python3 make g++',
    );
    process.exit(1);
  }
}
