/** Where every ledger lies: a key's slot in the table, and from there a chain of rows, one in the space of each of its limits. */
import type { Ledger, Rule } from '@limiter/core';
import { LimiterError } from '@limiter/core';
import { KeyTable, type Leaving } from './key-table.js';
import { valuesOf } from './keys.js';
import type { Eviction } from './options.js';
import { NO_SPACE, Space } from './space.js';

/** From this many spaces on, an empty one is looked for before another is made. */
const REUSE_FROM = 256;

export class Ledgers {
  readonly table: KeyTable;
  evictedExpired = 0;
  evictedLive = 0;
  evictedExhausted = 0;
  /** What left since this was last emptied; kept only when somebody wants to know. */
  readonly evictions: Eviction[] = [];
  readonly #report: boolean;
  readonly #spaces: Space[] = [];
  readonly #byName: Map<string, Map<string, Space>> = new Map();
  /** The space last used by the n-th charge of a step: nearly always the one that is asked for. */
  readonly #hints: (Space | undefined)[] = [];

  constructor(max: number, report: boolean) {
    this.#report = report;
    this.table = new KeyTable(max, (slot, key, why, now) => this.#onLeave(slot, key, why, now));
  }

  /** The space of a ledger's limit, undefined when nothing was ever stored there. `nth`: its place in the step. */
  space(ledger: Ledger, nth: number): Space | undefined {
    const hint = this.#hints[nth];
    if (hint !== undefined && hint.name === ledger.name && hint.grid === ledger.grid) return hint;
    const space = this.#byName.get(ledger.name)?.get(ledger.grid);
    this.#hints[nth] = space;
    return space;
  }

  /** The row of a slot's ledger in a space, -1 when there is none. */
  row(slot: number, space: Space): number {
    let at = this.table.headSpace(slot);
    let row = this.table.headRow(slot);
    while (at !== NO_SPACE) {
      if (at === space.index) return row;
      const here = this.#spaces[at] as Space;
      at = here.nextSpace(row);
      row = here.nextRow(row);
    }
    return -1;
  }

  /** Does the slot have exactly this many ledgers? */
  has(slot: number, count: number): boolean {
    return this.table.ledgers(slot) === count;
  }

  /**
   * What a step has left of a key of which it wrote `written` ledgers: when the key may be forgotten, until when it is exhausted (0: it is not).
   * Where it has more ledgers, what is known of them stays: it leaves rather too late than too early.
   */
  tell(slot: number, forgetAt: number, exhaustedUntil: number, now: number, written: number): void {
    const { table } = this;
    if (this.has(slot, written)) {
      table.settle(slot, forgetAt, exhaustedUntil);
      return;
    }
    const before = table.exhaustedUntil(slot);
    table.settle(slot, Math.max(forgetAt, table.forgetAt(slot)), Math.max(exhaustedUntil, before > now ? before : 0));
  }

  /** The ledgers of a slot, the newest first. */
  chain(slot: number): readonly { readonly space: Space; readonly row: number }[] {
    const chain: { readonly space: Space; readonly row: number }[] = [];
    let at = this.table.headSpace(slot);
    let row = this.table.headRow(slot);
    while (at !== NO_SPACE) {
      const space = this.#spaces[at] as Space;
      chain.push({ space, row });
      at = space.nextSpace(row);
      row = space.nextRow(row);
    }
    return chain;
  }

  /** A row for a new ledger of a slot. */
  addRow(slot: number, space: Space): number {
    const { table } = this;
    const row = space.add(table.headSpace(slot), table.headRow(slot));
    table.setChain(slot, space.index, row, table.ledgers(slot) + 1);
    return row;
  }

  /** A space for a limit that is stored for the first time. */
  addSpace(ledger: Ledger, rule: Rule): Space {
    const index = this.#spaces.length < REUSE_FROM ? this.#spaces.length : this.#emptyIndex();
    const space = new Space(ledger.name, ledger.grid, index, rule, this.table.max);
    this.#spaces[index] = space;
    let grids = this.#byName.get(ledger.name);
    if (grids === undefined) {
      grids = new Map();
      this.#byName.set(ledger.name, grids);
    }
    grids.set(ledger.grid, space);
    return space;
  }

  /** Forgets one ledger of a slot, and the key when it was the last. */
  remove(slot: number, space: Space): void {
    const chain = this.chain(slot);
    const at = chain.findIndex((link) => link.space === space);
    const link = chain[at];
    if (link === undefined) return;
    const before = chain[at - 1];
    const { table } = this;
    const nextSpace = space.nextSpace(link.row);
    const nextRow = space.nextRow(link.row);
    const left = chain.length - 1;
    if (before === undefined) table.setChain(slot, nextSpace, nextRow, left);
    else {
      before.space.relink(before.row, nextSpace, nextRow);
      table.setChain(slot, table.headSpace(slot), table.headRow(slot), left);
    }
    space.free(link.row);
    if (left === 0) table.remove(slot);
  }

  #onLeave(slot: number, key: string, why: Leaving, now: number): void {
    if (why === 'expired') this.evictedExpired += 1;
    else if (why === 'exhausted') this.evictedExhausted += 1;
    else this.evictedLive += 1;
    if (this.#report && why !== 'expired') this.#reportEviction(slot, key, why, now);
    this.#freeRows(slot);
  }

  #freeRows(slot: number): void {
    let at = this.table.headSpace(slot);
    let row = this.table.headRow(slot);
    while (at !== NO_SPACE) {
      const space = this.#spaces[at] as Space;
      at = space.nextSpace(row);
      const next = space.nextRow(row);
      space.free(row);
      row = next;
    }
  }

  #reportEviction(slot: number, key: string, why: Leaving, now: number): void {
    const { values, slot: name } = valuesOf(key);
    const fullAgainInMs = this.table.forgetAt(slot) - now;
    this.evictions.push({
      values,
      slot: name,
      ledgers: this.chain(slot).map(({ space }) => space.name),
      exhausted: why === 'exhausted',
      fullAgainInMs,
    });
  }

  /** The number of a space that has no ledger left, else the next one. */
  #emptyIndex(): number {
    const empty = this.#spaces.find((space) => space.size === 0);
    if (empty !== undefined) {
      const grids = this.#byName.get(empty.name);
      grids?.delete(empty.grid);
      if (grids?.size === 0) this.#byName.delete(empty.name);
      this.#hints.length = 0;
      const { index } = empty;
      empty.index = NO_SPACE;
      return index;
    }
    if (this.#spaces.length < NO_SPACE) return this.#spaces.length;
    throw new LimiterError('ERR_LIMITER_LIMITS', `a memory store holds at most ${NO_SPACE} limits at once`);
  }
}
