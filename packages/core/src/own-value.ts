/** The own property of a record, so that a limit, axis or priority named `constructor` is only what the caller said. */
export function ownValue(record: object, name: string): unknown {
  return Object.hasOwn(record, name) ? (record as Record<string, unknown>)[name] : undefined;
}
