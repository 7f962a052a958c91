/** Rows that leave at once. What may be long, the nodes of a log's tree, is left to the sweep (housekeeping.ts). */
import type { Statements } from './connection.js';
import { treeKey } from './keys.js';

/** A tree that nothing refers to any more: who resets a log, or charges it after a long silence, does not pay for its length. */
export function abandonTree(connection: Statements, tree: number): void {
  if (tree > 0) connection.putLedger.run(treeKey(tree), 0, 0, 0, 0, 0, tree, null);
}

/** Deletes a row and what belongs to it. */
export function dropLedger(connection: Statements, key: string): void {
  const tree = connection.takeLedger.get(key)?.[0];
  if (typeof tree === 'number') abandonTree(connection, tree);
}
