import { spawnSync } from 'node:child_process';

/**
 * better-sqlite3 is a native addon, bound to the Node that built it, and optional here: a machine that cannot build it
 * still runs the demo. The tests need it, so it is built now when it does not load.
 */
function loads(): boolean {
  const probe = "new (require('better-sqlite3'))(':memory:').close()";
  return spawnSync(process.execPath, ['-e', probe], { stdio: 'ignore' }).status === 0;
}

if (!loads()) {
  console.log('better-sqlite3 does not load in this Node: building it (2 to 5 minutes, once).');
  const { stdout, stderr } = spawnSync('pnpm', ['rebuild', 'better-sqlite3'], { encoding: 'utf8' });
  if (!loads()) {
    console.error(`${stdout}${stderr}`.trimEnd().split('\n').slice(-20).join('\n'));
    console.error(
      'The tests need better-sqlite3. Give it a compiler and try again:\n  sudo apt-get install python3 make g++',
    );
    process.exit(1);
  }
}
