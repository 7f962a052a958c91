/** In this process. */
import { memoryStore } from '@limiter/memory';
import { theProgram } from './the-program.js';

await theProgram(memoryStore());
