/**
 * Which receipts this process has used, whichever of its limiters was asked. Two generations of ids, so that memory stays bounded:
 * at least the last 100,000 are remembered.
 */
const GENERATION = 100_000;

export interface ClosedReceipts {
  /** Marks `id` as used; false when it was used before. */
  close(id: string): boolean;
  /** The store provably did nothing: the receipt may be used again. */
  reopen(id: string): void;
}

let young = new Set<string>();
let old = new Set<string>();

/** One for the process: ids are unique, and two limiters of one name may share a store. */
export const closedReceipts: ClosedReceipts = {
  close(id) {
    if (young.has(id) || old.has(id)) return false;
    if (young.size >= GENERATION) [old, young] = [young, new Set()];
    young.add(id);
    return true;
  },
  reopen(id) {
    young.delete(id);
    old.delete(id);
  },
};
