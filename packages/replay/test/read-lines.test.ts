import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { openLog } from '../src/open-log.js';
import { readLines } from '../src/read-lines.js';

async function* blocks(...parts: (string | Buffer)[]): AsyncGenerator<Buffer> {
  for (const part of parts) yield Buffer.from(part as string);
}

async function all(source: AsyncIterable<readonly string[]>): Promise<string[]> {
  const lines: string[] = [];
  for await (const batch of source) lines.push(...batch);
  return lines;
}

describe('lines', () => {
  it.each([
    ['two lines', ['a\nb\n'], ['a', 'b']],
    ['a last line without an end', ['a\nb'], ['a', 'b']],
    ['a line across three blocks', ['a', 'b', 'c\nd\n'], ['abc', 'd']],
    ['a break between the blocks', ['a', '\n', 'b'], ['a', 'b']],
    ['empty lines', ['\n\na\n'], ['', '', 'a']],
    ['a byte order mark', ['\uFEFFa\n'], ['a']],
    ['nothing', [], []],
  ])('reads %s', async (_what, parts, lines) => {
    expect(await all(readLines(blocks(...parts)))).toEqual(lines);
  });

  it('joins a character whose bytes lie in two blocks', async () => {
    const [start, end] = [Buffer.from('é').subarray(0, 1), Buffer.from('é').subarray(1)];
    expect(await all(readLines(blocks(start, end, '\n')))).toEqual(['é']);
  });

  it('cuts a line that does not end, and goes on behind it', async () => {
    expect(await all(readLines(blocks('aaaaaa', 'aaaaaa', 'aa\nb\ncccccccc\n'), 5))).toEqual(['aaaaa', 'b', 'ccccc']);
  });
});

describe('logs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'limiter-replay-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = (name: string, content: string | Buffer): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const read = (name: string): Promise<string[]> => all(readLines(openLog(name).blocks()));

  it('unpacks gzip by its content, whatever the name, several members included', async () => {
    const packed = Buffer.concat([gzipSync('a\n'), gzipSync('b\n')]);
    expect(await read(file('one.gz', packed))).toEqual(['a', 'b']);
    expect(await read(file('two.log', packed))).toEqual(['a', 'b']);
    expect(await read(file('three.gz', 'plain\n'))).toEqual(['plain']);
  });

  it('says how far it has read, in bytes of the file', async () => {
    const name = file('bytes.gz', gzipSync('a\n'.repeat(1_000)));
    const log = openLog(name);
    let bytes = 0;
    await all(readLines(log.blocks((more) => (bytes += more))));
    expect(bytes).toBe(log.size);
  });

  it.each([
    ['missing', () => join(folder, 'none.log'), 'there is no such file'],
    ['a folder', () => folder, 'is a folder; name the log files in it'],
    ['cut off', () => file('cut.gz', gzipSync('a\n'.repeat(1_000)).subarray(0, 25)), 'its gzip data ends too early'],
    [
      'zstd',
      () => file('log.zst', Buffer.from('28b52ffd0458', 'hex')),
      'is packed with zstd; unpack it on the way: zstd -dc',
    ],
  ])('explains a log that is %s', async (_what, name, message) => {
    await expect((async () => read(name()))()).rejects.toThrowError(message);
    await expect((async () => read(name()))()).rejects.toMatchObject({ code: 'ERR_LIMITER_LOG' });
  });
});
