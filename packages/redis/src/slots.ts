/** Redis Cluster: which slot a step lies in. Keys of one slot are on one server, and only they can be decided as one. */
import { type Ledger, LimiterError, type Step } from '@limiter/core';
import { keyOf } from '@limiter/redis-lua';
import keySlot from 'cluster-key-slot';

/** Every ledger that a step touches. */
export function ledgersOf(step: Step): readonly Ledger[] {
  if (step.op === 'reset') return step.ledgers;
  if (step.op !== 'adjust') return step.charges.map(({ ledger }) => ledger);
  const ledgers = step.adjustments.map(({ ledger }) => ledger);
  return step.once === undefined ? ledgers : [...ledgers, step.once.beside];
}

/** CRC16 of what stands in the braces of the ledger's key, modulo 16,384. */
export function slotOfLedger(ledger: Ledger, prefix: string): number {
  return keySlot(keyOf(ledger, prefix));
}

/** The one slot of a step (0 for a step without ledgers). @throws ERR_LIMITER_CROSS_SLOT when its ledgers lie in several. */
export function slotOfStep(step: Step, prefix: string): number {
  const ledgers = ledgersOf(step);
  const [first] = ledgers;
  if (first === undefined) return 0;
  const slot = slotOfLedger(first, prefix);
  for (const ledger of ledgers) {
    const other = slotOfLedger(ledger, prefix);
    if (other === slot) continue;
    throw new LimiterError(
      'ERR_LIMITER_CROSS_SLOT',
      'the limits of one call must lie in one Redis Cluster slot to be decided as one, ' +
        `got ${first.name} in slot ${slot} and ${ledger.name} in slot ${other}; ` +
        `name the axis of the widest owner as the limiter's hashTag, or accept crossSlot: 'give-back'`,
    );
  }
  return slot;
}
