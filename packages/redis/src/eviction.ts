/** Redis may be told to throw keys away when memory is short. A ledger that is thrown away is a full budget again, so this is said once. */
import type { Lane } from './link.js';
import type { RedisWarning } from './warnings.js';

/** INFO, since managed services refuse CONFIG; where INFO is refused too, nothing is known and nothing said. */
export async function evictionWarning(lane: Lane): Promise<RedisWarning | undefined> {
  let policy: string | undefined;
  try {
    const info = String(await lane.send('info', ['memory']));
    policy = /^maxmemory_policy:(.*)$/m.exec(info)?.[1]?.trim();
  } catch {
    return undefined;
  }
  if (policy === undefined || policy === 'noeviction') return undefined;
  return {
    code: 'LIMITER_REDIS_EVICTION',
    message:
      `Redis evicts keys when memory is short (maxmemory-policy is ${policy}): an evicted ledger is a free budget. ` +
      `Set maxmemory-policy noeviction, or give the limiter a Redis of its own.`,
  };
}
