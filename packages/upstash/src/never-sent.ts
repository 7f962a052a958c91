/**
 * Was a failed `fetch` never sent? Only what proves it counts: there was no address, or no connection. Node says so in the
 * error's cause (`syscall: 'connect'`, one for each address that was tried), Bun in a code; others do not say, and then the
 * request may have arrived.
 */

const CODES: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ERR_INVALID_URL',
  'UND_ERR_CONNECT_TIMEOUT',
  'ConnectionRefused',
]);
const SYSCALLS: ReadonlySet<unknown> = new Set(['connect', 'getaddrinfo']);

interface SystemError {
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly errors?: unknown;
  readonly cause?: unknown;
}

export function neverSent(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, syscall, errors, cause } = error as SystemError;
  if (Array.isArray(errors) && errors.length > 0) return errors.every(neverSent);
  return CODES.has(code) || SYSCALLS.has(syscall) || neverSent(cause);
}
