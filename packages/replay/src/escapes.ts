/**
 * What servers write in place of bytes that would break a log line: nginx `\x22`, Apache `\"`, `\\`, `\t`, `\xhh`.
 * Undone, the same user agent has the same text in the logs of both.
 */

const NAMED: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, b: 8, v: 11, f: 12, '"': 34, '\\': 92 };
const ESCAPED = /\\(?:x([0-9A-Fa-f]{2})|([nrtbvf"\\]))/g;

/**
 * The text as the client sent it. `\xC3\xA9` is two bytes of UTF-8 and becomes `é`; bytes that are no UTF-8 become
 * U+FFFD. A backslash that begins none of the escapes above stays.
 * @example unescapeField('quo\\x22te') // 'quo"te'
 */
export function unescapeField(text: string): string {
  if (!text.includes('\\')) return text;
  const bytes: Buffer[] = [];
  let from = 0;
  for (const match of text.matchAll(ESCAPED)) {
    bytes.push(Buffer.from(text.slice(from, match.index)));
    bytes.push(
      Buffer.of(match[1] === undefined ? (NAMED[match[2] as string] as number) : Number.parseInt(match[1], 16)),
    );
    from = match.index + match[0].length;
  }
  bytes.push(Buffer.from(text.slice(from)));
  return Buffer.concat(bytes).toString();
}

/** Where the quoted field that begins after `from` ends: the next `"` that no backslash escapes; -1 without one. */
export function closingQuote(line: string, from: number): number {
  for (let at = line.indexOf('"', from); at !== -1; at = line.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (at - 1 - backslashes >= from && line.charCodeAt(at - 1 - backslashes) === 92) backslashes++;
    if (backslashes % 2 === 0) return at;
  }
  return -1;
}
