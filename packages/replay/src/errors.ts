/** What the command refuses to work on. A mistake in the arguments themselves (exit code 2) is commander's to report. */

export type ReplayErrorCode =
  /** A `--limit` text that the grammar does not know. */
  | 'ERR_LIMITER_LIMIT_TEXT'
  /** A log that cannot be opened or read to its end. */
  | 'ERR_LIMITER_LOG'
  /** A log without a single line that could be read. */
  | 'ERR_LIMITER_NO_REQUESTS';

/** Bad input (exit code 1). The message holds the value and the rule. */
export class ReplayError extends Error {
  readonly code: ReplayErrorCode;
  constructor(code: ReplayErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ReplayError';
    this.code = code;
  }
}

/** At most 80 characters of a value, quoted, without control characters. */
export function quoted(value: string): string {
  const text = JSON.stringify(value);
  return text.length <= 82 ? text : `${text.slice(0, 78)}..."`;
}
