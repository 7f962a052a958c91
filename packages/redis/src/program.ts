/** What the dispatcher needs of the Lua program: the text, and the way in and out. */
import type { Outcome, Step } from '@limiter/core';

export interface EncodedCall {
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

export interface Program {
  readonly script: string;
  readonly sha1: string;
  /**
   * One call for all steps. `deadline` is in the server's clock: a call that begins later does nothing and answers `LIMITERLATE <now>`.
   * May throw for a step that cannot be written down; then nothing has been sent.
   */
  encode(steps: readonly Step[], deadline: number | undefined): EncodedCall;
  /** One outcome a step, in order. */
  decode(reply: unknown, steps: readonly Step[]): readonly Outcome[];
}
