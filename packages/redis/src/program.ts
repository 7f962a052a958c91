/** What the dispatcher needs of the Lua program: the text, and the way in and out. */
import type { Outcome, Step } from '@limiter/core';
import type { Argument } from './link.js';

export interface EncodedCall {
  readonly keys: readonly Argument[];
  readonly args: readonly Argument[];
}

export interface Program {
  readonly script: string;
  readonly sha1: string;
  /** May throw for a step that cannot be written down; then nothing has been sent. */
  encode(steps: readonly Step[]): EncodedCall;
  /** One outcome a step, in order. */
  decode(reply: unknown, steps: readonly Step[]): readonly Outcome[];
}
