import { spawnSync } from 'node:child_process';

/**
 * The suites of the shared stores run against a real redis-server, never a mock. Where it is missing, Debian's package
 * is installed (without starting a service), or this stops with the one line that installs it. It never skips silently.
 */
const runs = (command: string, ...args: string[]): boolean =>
  spawnSync(command, args, { stdio: 'ignore' }).status === 0;

function install(): boolean {
  const apt = (...args: string[]): boolean =>
    spawnSync('apt-get', ['-qq', ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
      // RUNLEVEL=1 keeps invoke-rc.d from starting what is being installed.
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
    }).status === 0;
  const packages = ['install', '-y', '--no-install-recommends', 'redis-server'];
  return apt(...packages) || (apt('update') && apt(...packages));
}

if (!runs('redis-server', '--version')) {
  if (process.getuid?.() === 0 && runs('apt-get', '--version')) {
    console.log('redis-server is missing: installing the Debian package redis-server, for the tests only.');
    install();
  }
  if (!runs('redis-server', '--version')) {
    console.error('The tests need redis-server (>= 6.2). Install it with:\n  sudo apt-get install redis-server');
    process.exit(1);
  }
}
