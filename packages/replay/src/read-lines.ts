/** Blocks of bytes -> lines, a block's worth at a time. Nothing but the unfinished line is held. */

/**
 * A line is cut here, as UTF-16 units go: a file without line breaks must not fill the memory. Servers stop a request
 * line at 8 kB and a header at 8 kB (nginx `large_client_header_buffers`, Apache `LimitRequestLine`), four times that once escaped.
 */
export const LONGEST_LINE = 1_048_576;

/**
 * The lines without their `\n`, in order; the last one also where no `\n` ends it. Text is UTF-8; other bytes become
 * U+FFFD. A line longer than `longest` is given cut to that length, its rest is skipped.
 */
export async function* readLines(
  blocks: AsyncIterable<Buffer>,
  longest: number = LONGEST_LINE,
): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder('utf-8');
  let tail = '';
  for await (const block of blocks) {
    const lines = decoder.decode(block, { stream: true }).split('\n');
    lines[0] = tail.length < longest ? tail + (lines[0] as string) : tail;
    tail = cut(lines.pop() as string, longest);
    if (lines.length > 0) yield lines.map((line) => cut(line, longest));
  }
  tail += decoder.decode();
  if (tail !== '') yield [tail];
}

const cut = (line: string, longest: number): string => (line.length > longest ? line.slice(0, longest) : line);
