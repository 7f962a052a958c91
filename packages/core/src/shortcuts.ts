/** Quicker ways to ask a store, put on it so that no wrapper is passed by. */

/**
 * Puts shortcuts (`askSync`, `ask`, `recall`) on `store` itself and returns it. They are not enumerable: a copy
 * `{ ...store, run }` does not have them, so whoever wraps `run` or `runSync` like that sees every question.
 *
 * @example
 * const store = addShortcuts({ traits, run }, { ask: (asking) => send(asking.step, (outcome) => asking.answer(outcome)) });
 */
export function addShortcuts<S extends object, W extends object>(store: S, ways: W): S & W {
  for (const [name, value] of Object.entries(ways)) Object.defineProperty(store, name, { value, configurable: true });
  return store as S & W;
}
