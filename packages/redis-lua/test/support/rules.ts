/** Random rules, and the same rules with other numbers. */
import type { Rule } from '@limiter/core';
import type { Random } from './random.js';

/** Everyday numbers, numbers up to 2^53-1, or windows of a few ms. */
export type Scale = 'small' | 'large' | 'short';

const MAX = Number.MAX_SAFE_INTEGER;
const LONGEST_MS = 2 ** 42;
const WINDOWS: Record<Scale, readonly number[]> = {
  small: [1, 7, 1_000, 2_500, 60_000, 86_400_000],
  large: [1, 60_000, 86_400_000, LONGEST_MS - 1, LONGEST_MS],
  short: [1, 2, 7, 20],
};

function amount(random: Random, scale: Scale): number {
  if (scale !== 'large') return random.from(0, 12);
  return random.of([MAX, MAX - 1, 2 ** 52, 2 ** 52 + 1, 2 ** 49, 2 ** 48 - 1, 2 ** 31, random.from(0, MAX)]);
}

function bucket(random: Random, scale: Scale, refillMs: number): Rule {
  return {
    algorithm: 'token-bucket',
    capacity: Math.min(amount(random, scale), Math.floor(MAX / refillMs)),
    refillTokens: scale === 'large' && random.chance(2) ? random.from(1, MAX) : random.from(1, 7),
    refillMs,
  };
}

export function randomRule(random: Random, scale: Scale): Rule {
  const windowMs = random.of(WINDOWS[scale]);
  const limit = amount(random, scale);
  switch (random.of(['clock', 'first-request', 'log', 'log', 'bucket', 'bucket'])) {
    case 'clock': {
      const offsetMs = random.chance(2) ? 0 : random.from(0, windowMs - 1);
      return { algorithm: 'fixed-window', limit, windowMs, align: 'clock', offsetMs };
    }
    case 'first-request':
      return { algorithm: 'fixed-window', limit, windowMs, align: 'first-request', offsetMs: 0 };
    case 'log':
      return { algorithm: 'sliding-window-log', limit, windowMs };
    default:
      return bucket(random, scale, windowMs);
  }
}

/** Mostly on the same grid, so that what was used stays. */
export function changedRule(random: Random, rule: Rule, scale: Scale): Rule {
  if (random.chance(2)) return rule;
  const wider = random.chance(6) ? 1 : 0;
  if (rule.algorithm === 'token-bucket') {
    return bucket(random, scale, Math.min(LONGEST_MS, rule.refillMs + wider));
  }
  return { ...rule, limit: amount(random, scale), windowMs: Math.min(LONGEST_MS, rule.windowMs + wider) };
}
