/**
 * Was a failed `fetch` never sent? Only what proves it counts: there was no address, or no connection. Node says so in the
 * error's cause (`syscall: 'connect'`, one for each address that was tried), Bun in a code, Deno in words; workerd does not say,
 * and then the request may have arrived.
 */

const CODES: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ERR_INVALID_URL',
  'UND_ERR_CONNECT_TIMEOUT',
  'ConnectionRefused',
]);
/** Deno: of its HTTP client, when it has no connection. */
const NO_CONNECTION = /\bclient error \(Connect\)/;
const SYSCALLS: ReadonlySet<unknown> = new Set(['connect', 'getaddrinfo']);

interface SystemError {
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly errors?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
}

export function neverSent(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, syscall, errors, message, cause } = error as SystemError;
  if (Array.isArray(errors) && errors.length > 0) return errors.every(neverSent);
  if (typeof message === 'string' && NO_CONNECTION.test(message)) return true;
  return CODES.has(code) || SYSCALLS.has(syscall) || neverSent(cause);
}
