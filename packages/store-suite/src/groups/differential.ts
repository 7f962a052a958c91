/** Random histories against a naive ledger that keeps every charge and knows only the definitions. */
import type { Check, Group } from '../check.js';
import { type HistoryShape, histories, RULE_KINDS, type RuleKind } from '../histories.js';
import { Player } from '../play.js';
import { forAll } from '../property.js';

const NAMES: Record<RuleKind, string> = {
  'clock-window': 'a fixed window on the clock',
  'first-request-window': 'a fixed window from the first request',
  log: 'a sliding window log',
  bucket: 'a token bucket',
};

const all = RULE_KINDS;
function share({ scale, limits }: HistoryShape): number {
  if (scale === 'deep') return 0.1;
  return limits === 1 ? 0.5 : 0.75;
}

function turned(title: string, shape: HistoryShape): Check {
  return {
    title,
    needs: ['turned-clock'],
    run: (bench) => forAll(bench, histories(shape), (history) => new Player(bench, history).play(), share(shape)),
  };
}

/** The same histories on windows of a few ms, which any clock can wait for: the model takes its time from the store's answers. */
function waited(title: string, shape: HistoryShape): Check {
  const short: HistoryShape = { ...shape, scale: 'short', length: 20 };
  return {
    title,
    run: (bench) => forAll(bench, histories(short), (history) => new Player(bench, history).play(), 0.2),
  };
}

export const differential: Group = {
  name: 'differential',
  checks: [
    ...all.map((kind) =>
      turned(`${NAMES[kind]} answers like a ledger that keeps every charge`, { kinds: [kind], limits: 1 }),
    ),
    ...all.map((kind) =>
      turned(`${NAMES[kind]} takes refunds and settlements like a ledger that keeps every charge`, {
        kinds: [kind],
        limits: 1,
        adjust: true,
      }),
    ),
    ...all.map((kind) =>
      turned(`${NAMES[kind]} follows a clock that is set back, with refunds and changed limits in between`, {
        kinds: [kind],
        limits: 1,
        adjust: true,
        back: true,
        change: true,
      }),
    ),
    turned('three limits asked as one answer like three ledgers that keep every charge', { kinds: all, limits: 3 }),
    turned('three limits with refunds, changed limits and resets answer like three ledgers that keep every charge', {
      kinds: all,
      limits: 3,
      adjust: true,
      change: true,
    }),
    turned('three limits on a clock that is set back answer like three ledgers that keep every charge', {
      kinds: all,
      limits: 3,
      adjust: true,
      back: true,
      change: true,
    }),
    turned('numbers up to 2^53-1 are answered without a rounding error', { kinds: all, limits: 2, scale: 'large' }),
    turned('numbers up to 2^53-1 are refunded, settled and changed without a rounding error', {
      kinds: all,
      limits: 2,
      scale: 'large',
      adjust: true,
      change: true,
      back: true,
    }),
    ...all.map((kind) =>
      turned(
        `${NAMES[kind]} with hundreds of charges takes refunds of any of them like a ledger that keeps every charge`,
        {
          kinds: [kind],
          limits: 1,
          scale: 'deep',
          adjust: true,
          back: true,
          batch: 20,
          length: 500,
        },
      ),
    ),
    turned('many questions in one run are answered one after the other, each as if alone', {
      kinds: all,
      limits: 2,
      batch: 12,
      adjust: true,
    }),
    waited("windows of a few milliseconds open and close by the store's own time", {
      kinds: all,
      limits: 2,
      adjust: true,
    }),
    waited('many questions in one run are answered in order at the times that the answers name', {
      kinds: all,
      limits: 1,
      batch: 8,
    }),
  ],
};
