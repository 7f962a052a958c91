import type { Program } from './program.js';
export function limiterProgram(_prefix: string, _clock: (() => number) | undefined): Program {
  throw new Error('not yet');
}
