/**
 * Identities of ledgers: 52 random bits, so that no two processes, and no two lives of one file (a restored backup, a
 * power cut that took the last commits), give a ledger the same one. A counter in the file would repeat after both, and
 * a receipt of a lost charge would then give back what was never charged.
 */
const pool = new Uint32Array(512);
let next = pool.length;

export function newId(): number {
  if (next === pool.length) {
    crypto.getRandomValues(pool);
    next = 0;
  }
  const high = (pool[next] as number) >>> 12;
  const low = pool[next + 1] as number;
  next += 2;
  return high * 2 ** 32 + low;
}
