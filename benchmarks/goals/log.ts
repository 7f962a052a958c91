/** Goals for the sliding log: what grows with its entries, and what its refunds cost. */
import { type Goal, grown, grownName, most } from './bounds.js';

const LOG = 'Sliding log, 100,000 entries over 10';

export function logGoals(): Goal[] {
  const short: Record<string, number> = {
    admit: 1.5,
    peek: 1.5,
    'denied, cost 1': 1.5,
    'denied, cost = limit': 1.5,
    'denied, any cost': 2.5,
  };
  const memory = Object.entries(short).map(([name, bound]) =>
    most(LOG, `memory: ${name}`, bound, 'x', grown('growth log memory', name, 100_000, 10)),
  );
  const memoryRefunds = [
    most(
      LOG,
      'memory: a refund over an admit',
      5,
      'x',
      grown('growth log memory', 'refund', 100_000, 100_000, 'admit'),
    ),
    most(
      LOG,
      'memory: an admit with 1,000 live refunds over one with none',
      5,
      'x',
      grown('growth log memory', 'admit, 1,000 live refunds', 100_000, 100_000, 'admit'),
    ),
    most(
      LOG,
      'memory: a denial of any cost with 1,000 live refunds over one with none',
      5,
      'x',
      grown('growth log memory', 'denied, any cost, 1,000 live refunds', 100_000, 100_000, 'denied, any cost'),
    ),
    most(
      LOG,
      'memory: first charge after silence over an admit',
      5,
      'x',
      grown('growth log memory', 'first charge after silence', 100_000, 100_000, 'admit'),
    ),
  ];
  const redis = Object.entries(short).map(([name, bound]) =>
    most(LOG, `Redis: ${name}`, bound, 'x', grownName('redis cost logs', `100000: ${name}`, `10: ${name}`)),
  );
  const names: readonly (readonly [string, number])[] = [
    ['admitted, the window sliding', 1.5],
    ['peek', 1.5],
    ['denied, cost 1', 1.5],
    ['denied, cost = the limit', 1.5],
    ['denied, half the limit', 2.5],
    ['denied, a third of the limit', 2.5],
  ];
  const sqlite = names.map(([name, bound]) =>
    most(LOG, `SQLite: ${name}`, bound, 'x', grown('growth log sqlite', name, 100_000, 10)),
  );
  const admitted = 'admitted, the window sliding';
  return [
    ...memory,
    ...memoryRefunds,
    ...redis,
    most(
      LOG,
      'Redis: a refund over an admit, 1,000 live refunds',
      5,
      'x',
      grownName('redis cost refunds', '1000 live refunds: one more, anywhere', '0 live refunds: admit'),
    ),
    most(
      LOG,
      'Redis: any question with 1,000 live refunds over one with none',
      5,
      'x',
      grownName('redis cost refunds', '1000 live refunds: denied, any cost', '0 live refunds: denied, any cost'),
    ),
    most(
      LOG,
      'Redis: first charge after silence over an admit (10,000 entries)',
      5,
      'x',
      grownName('redis cost silence', 'first consume after silence, 10,000 entries', 'an admit'),
    ),
    ...sqlite,
    most(
      LOG,
      'SQLite: a refund over an admit',
      5,
      'x',
      grown('growth log sqlite', 'refund', 100_000, 100_000, admitted),
    ),
    most(
      LOG,
      'SQLite: first charge after silence over an admit',
      5,
      'x',
      grown('growth log sqlite', 'first charge after all expired', 100_000, 100_000, admitted),
    ),
    most(
      LOG,
      'SQLite: any question with 1,000 live refunds over one with none',
      5,
      'x',
      grown(
        'growth log sqlite',
        'denied, half the limit, up to 1,000 live refunds',
        100_000,
        100_000,
        'denied, half the limit',
      ),
    ),
  ];
}
