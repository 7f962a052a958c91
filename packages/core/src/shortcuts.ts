/** Quicker ways to ask a store, put on it so that no wrapper is passed by. */

/**
 * Adds the `ways` (`askSync`, `ask`, `recall`) to a store, not enumerable: a copy `{ ...store, run }` does not have them, so whoever
 * wraps `run` or `runSync` like that sees every question.
 *
 * @example withShortcuts(store, { askSync })
 */
export function withShortcuts<S extends object, W extends object>(store: S, ways: W): S & W {
  for (const [name, value] of Object.entries(ways)) Object.defineProperty(store, name, { value, configurable: true });
  return store as S & W;
}
