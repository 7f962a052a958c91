/** What went wrong, in the words of the store contract. SQLite says it in result codes: https://sqlite.org/rescode.html */
import type { Fault, FaultOutcome } from '@limiter/core';

/** The stored state is not what this package writes. */
export class Corrupt extends Error {
  override readonly name = 'Corrupt';
}

/** COMMIT itself failed in a way that does not say whether it was done. */
export class CommitUnknown extends Error {
  override readonly name = 'CommitUnknown';
}

const PRIMARY: Readonly<Record<string, number>> = {
  PERM: 3,
  BUSY: 5,
  LOCKED: 6,
  NOMEM: 7,
  READONLY: 8,
  INTERRUPT: 9,
  IOERR: 10,
  CORRUPT: 11,
  FULL: 13,
  CANTOPEN: 14,
  PROTOCOL: 15,
  NOTADB: 26,
};

const BUSY = 5;
const IOERR = 10;
const UNREACHABLE: readonly number[] = [5, 6, 14, 15];
const CORRUPT: readonly number[] = [11, 26];

/** SQLite's primary result code; undefined when the error is not SQLite's. better-sqlite3 gives its name, node:sqlite the number. */
export function resultCode(error: unknown): number | undefined {
  const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown };
  if (code === 'ERR_SQLITE_ERROR' && typeof errcode === 'number') return errcode & 0xff;
  const name = typeof code === 'string' ? /^SQLITE_([A-Z]+)/.exec(code)?.[1] : undefined;
  return name === undefined ? undefined : (PRIMARY[name] ?? 1);
}

/** Somebody else holds the lock: nothing ran, and it is worth trying again. */
export function isBusy(error: unknown): boolean {
  return resultCode(error) === BUSY;
}

/** May COMMIT have been done although it failed? Only when the file system failed under it. */
export function isUnknownCommit(error: unknown): boolean {
  return resultCode(error) === IOERR;
}

/** The connection was closed by its owner, or is in the middle of the owner's own query. */
function isNotUsable(error: unknown): boolean {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return code === 'ERR_INVALID_STATE' || /database (connection )?is (not open|busy)/i.test(String(message));
}

function faultOf(error: unknown): Fault | undefined {
  if (error instanceof Corrupt) return 'corrupt';
  if (error instanceof CommitUnknown) return 'unknown-outcome';
  // node:sqlite refuses to read a whole number beyond 2^53-1, which is none that this package writes.
  if ((error as { readonly code?: unknown }).code === 'ERR_OUT_OF_RANGE') return 'corrupt';
  const code = resultCode(error);
  if (code === undefined) return isNotUsable(error) ? 'unreachable' : undefined;
  if (UNREACHABLE.includes(code)) return 'unreachable';
  return CORRUPT.includes(code) ? 'corrupt' : 'refused';
}

/** The outcome of a step that failed with `error`. Everything was rolled back: the state is as before. @throws what is no fault of the store's */
export function faultOutcome(error: unknown): FaultOutcome {
  const fault = faultOf(error);
  if (fault === undefined) throw error;
  return { ok: false, fault, cause: error };
}
