#!/usr/bin/env node
/** The `limiter` command: arguments in, exit code out. 0 done, 1 bad input, 2 bad usage; never a stack trace. */
import { CommanderError } from 'commander';
import { ReplayError } from './errors.js';
import { program } from './program.js';

// The reader has seen enough (`| head`).
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

const limiter = program(process);
limiter.exitOverride();
for (const command of limiter.commands) command.exitOverride();

try {
  await limiter.parseAsync(process.argv);
} catch (error) {
  process.exitCode = report(error);
}

function report(error: unknown): 0 | 1 | 2 {
  // Commander has printed its message; help and version were asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const known = error instanceof ReplayError;
  process.stderr.write(
    `${known ? `${error.code}: ` : 'unexpected: '}${error instanceof Error ? error.message : String(error)}\n`,
  );
  return 1;
}
