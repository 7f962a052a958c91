#!/usr/bin/env node
/** The `limiter` command. */
import { main } from './main.js';

// The reader has seen enough (`| head`).
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

process.exitCode = await main(process.argv.slice(2), process);
