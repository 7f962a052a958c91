/** Rows to states and back. What a row means is in schema.ts; the algorithms are core's. */
import {
  type BucketState,
  type Change,
  fullAgainAt,
  type LedgerState,
  type LogChange,
  type Rule,
  type WindowState,
} from '@limiter/core';
import type { Connection } from './connection.js';
import { StoredLog } from './log.js';
import { stored, unpack } from './numbers.js';

/** What is stored under `key` for a ledger of this rule's kind. @throws Corrupt */
export function readLedger(connection: Connection, key: string, rule: Rule): LedgerState | undefined {
  const row = connection.ledger.get(key);
  if (row === undefined) return undefined;
  const id = stored(row[0]);
  // A window on a clock grid may start before 1970.
  const at = stored(row[1], Number.MIN_SAFE_INTEGER);
  const amount = stored(row[2]);
  const sum = stored(row[3]);
  switch (rule.algorithm) {
    case 'fixed-window':
      return { start: at, used: amount, id };
    case 'token-bucket':
      return { debt: amount, at, charged: sum, id };
    case 'sliding-window-log':
      return new StoredLog(connection, id, at, amount, sum, stored(row[4]), unpack(row[5]));
  }
}

export function writeLedger(
  connection: Connection,
  key: string,
  rule: Rule,
  state: LedgerState | undefined,
  change: Change,
): void {
  switch (rule.algorithm) {
    case 'fixed-window': {
      const { id, start, used } = change as WindowState;
      connection.putLedger.run(key, id, start, used, 0, fullAgainAt(rule, change as WindowState), 0, null);
      return;
    }
    case 'token-bucket': {
      const { id, at, debt, charged } = change as BucketState;
      connection.putLedger.run(key, id, at, debt, charged, fullAgainAt(rule, change as BucketState), 0, null);
      return;
    }
    case 'sliding-window-log': {
      const { create } = change as LogChange;
      const log = create === undefined ? (state as StoredLog) : StoredLog.create(connection, create);
      log.store(key, change as LogChange, rule.windowMs);
    }
  }
}
