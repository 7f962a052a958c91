/** Everything that a store keeps of its ledgers, as text: equal texts mean equal state. */
import type { LogState } from '@limiter/core';
import { EntryLog } from '../src/entry-log.js';
import type { Ledgers } from '../src/ledgers.js';
import { newScratch } from '../src/space.js';

export function dump(ledgers: Ledgers): string {
  const { table } = ledgers;
  const lines: string[] = [];
  for (let slot = 0, seen = 0; seen < table.size; slot += 1) {
    const key = table.keyAt(slot);
    if (key === undefined) continue;
    seen += 1;
    for (const { space, row } of ledgers.chain(slot)) {
      const state = space.read(row, newScratch());
      lines.push(JSON.stringify([key, space.name, space.grid, state instanceof EntryLog ? entries(state) : state]));
    }
  }
  return lines.sort().join('\n');
}

function entries(log: LogState): unknown {
  const kept: unknown[] = [];
  for (let position = log.nextPosition - 1; log.entry(position) !== undefined; position -= 1) {
    kept.push(log.entry(position));
  }
  return { id: log.id, next: log.nextPosition, kept };
}
