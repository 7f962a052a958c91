/**
 * One copy of each text that is kept. A piece cut from a line keeps the whole block of the log alive behind it (V8
 * slices without copying), so whatever outlives its line is copied once and shared.
 */
export function interner(max = 65_536): (text: string) => string {
  let known = new Map<string, string>();
  return (text) => {
    const copy = known.get(text);
    if (copy !== undefined) return copy;
    if (known.size >= max) known = new Map();
    const fresh = Buffer.from(text).toString();
    known.set(fresh, fresh);
    return fresh;
  };
}
