/** Arguments in, exit code out: 0 done, 1 bad input, 2 bad usage; never a stack trace. */
import { CommanderError } from 'commander';
import { ReplayError } from './errors.js';
import { program, type Surroundings } from './program.js';

/** `args`: without the names of node and of the script. */
export async function main(args: readonly string[], surroundings: Surroundings): Promise<0 | 1 | 2> {
  const limiter = program(surroundings).exitOverride();
  for (const command of limiter.commands) command.exitOverride();
  try {
    await limiter.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has printed its message; help and version were asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const code = error instanceof ReplayError ? error.code : 'unexpected';
    surroundings.stderr.write(`${code}: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}
