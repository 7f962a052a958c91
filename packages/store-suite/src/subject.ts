/** How the suite gets a store, and what the store says of itself. */
import type { Ledger, Store } from '@limiter/core';
import type { Need } from './check.js';

export interface FactoryOptions {
  /** The clock to read, when `capabilities.clock` is 'turnable'; a store with a clock of its own ignores it. */
  readonly clock: () => number;
}

/** A store with empty data that nothing else uses, and what the suite may do with it. */
export interface StoreUnderTest {
  readonly store: Store;
  /** Another handle on the same data, as another process would have it. */
  readonly second?: (options: FactoryOptions) => Store | Promise<Store>;
  /** Everything that is stored, as text; equal texts mean byte-identical state. Times to live may be left out. */
  readonly dump?: () => string | Promise<string>;
  /** Overwrites what is stored for `ledger` with something that is no ledger, as a foreign program might. */
  readonly damage?: (ledger: Ledger) => void | Promise<void>;
  /** Removes the data and ends what was opened (both handles). Without it `store.close` is called. */
  readonly close?: () => void | Promise<void>;
}

export type StoreFactory = (options: FactoryOptions) => Store | StoreUnderTest | Promise<Store | StoreUnderTest>;

/** A check that is left out, by the title it has, with the reason. */
export interface LeftOut {
  readonly title: string | RegExp;
  readonly reason: string;
}

export interface Capabilities {
  /** 'turnable': the store reads the factory's clock. 'own': it has its own, and the suite waits for real. Default 'turnable'. */
  readonly clock?: 'turnable' | 'own';
  /** What the store lacks and why. Everything that is not named here is asked of it. */
  readonly unsupported?: Readonly<Partial<Record<Need, string>>>;
  /** Single checks that this store cannot meet, with the reason. One that matches no title is an error. */
  readonly leaveOut?: readonly LeftOut[];
  /** How many random histories a property gets: 'fast' 200, 'slow' 25 (a store that is a network away). Default 'fast'. */
  readonly speed?: 'fast' | 'slow';
  /** Fixes the random cases. Default: other ones every run; a failure prints its seed. FC_SEED goes before. */
  readonly seed?: number;
}

/** Why a need is not met; undefined when it is to be met. */
export function lacks({ clock, unsupported }: Capabilities, need: Need): string | undefined {
  const reason = unsupported?.[need] ?? (need === 'forgetting' ? unsupported?.dump : undefined);
  if (reason !== undefined) return reason;
  return need === 'turned-clock' && clock === 'own' ? 'the store reads a clock of its own' : undefined;
}
