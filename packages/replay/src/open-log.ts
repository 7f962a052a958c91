/** A log by name: a file, or `-` for standard input; gzip is unpacked wherever it is found, whatever the name. */
import { createReadStream, statSync } from 'node:fs';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { quoted, ReplayError } from './errors.js';

export interface OpenLog {
  readonly name: string;
  /** Bytes to read before unpacking; undefined where nobody can know. */
  readonly size: number | undefined;
  /** The blocks of the log, unpacked. `onRead` hears how many bytes were taken from the file. */
  blocks(onRead?: (bytes: number) => void): AsyncIterable<Buffer>;
}

/** Packings that Node cannot unpack, by their first bytes. */
const FOREIGN: readonly (readonly [magic: string, name: string, command: string])[] = [
  ['28b52ffd', 'zstd', 'zstd -dc'],
  ['425a68', 'bzip2', 'bzip2 -dc'],
  ['fd377a585a00', 'xz', 'xz -dc'],
];

/** Fails at once where a file is missing, so that no hour of reading is lost to the third name being misspelt. */
export function openLog(name: string): OpenLog {
  let size: number | undefined;
  if (name !== '-') {
    const stats = attempt(name, () => statSync(name));
    if (stats.isDirectory())
      throw new ReplayError('ERR_LIMITER_LOG', `${quoted(name)} is a folder; name the log files in it`);
    // A pipe, as of `<(zcat ...)`, has no size.
    size = stats.isFile() ? stats.size : undefined;
  }
  return { name, size, blocks: (onRead) => read(name, onRead) };
}

async function* read(name: string, onRead: ((bytes: number) => void) | undefined): AsyncGenerator<Buffer> {
  const input = name === '-' ? process.stdin : createReadStream(name, { highWaterMark: 256 * 1024 });
  try {
    const blocks = counted(input as AsyncIterable<Buffer>, onRead);
    const first = await blocks.next();
    if (first.done) return;
    const magic = first.value.subarray(0, 6).toString('hex');
    const foreign = FOREIGN.find(([start]) => magic.startsWith(start));
    if (foreign) {
      const [, packing, command] = foreign;
      const hint = `unpack it on the way: ${command} ${name === '-' ? 'LOG' : name} | limiter replay - --limit ...`;
      throw new ReplayError('ERR_LIMITER_LOG', `${quoted(name)} is packed with ${packing}; ${hint}`);
    }
    yield* magic.startsWith('1f8b') ? unpacked(first.value, blocks) : chained(first.value, blocks);
  } catch (error) {
    throw error instanceof ReplayError ? error : unreadable(name, error);
  } finally {
    input.destroy();
  }
}

async function* counted(
  input: AsyncIterable<Buffer>,
  onRead: ((bytes: number) => void) | undefined,
): AsyncGenerator<Buffer> {
  for await (const block of input) {
    onRead?.(block.length);
    yield block;
  }
}

async function* chained(first: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}

async function* unpacked(first: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const packed = Readable.from(chained(first, rest));
  const gunzip = createGunzip({ chunkSize: 256 * 1024 });
  packed.on('error', (error) => gunzip.destroy(error));
  yield* packed.pipe(gunzip);
}

function attempt<T>(name: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw unreadable(name, error);
  }
}

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'you may not read it',
  EISDIR: 'it is a folder',
  Z_BUF_ERROR: 'its gzip data ends too early',
  Z_DATA_ERROR: 'its gzip data is damaged',
};

function unreadable(name: string, error: unknown): ReplayError {
  const { code = '', message = String(error) } = error as NodeJS.ErrnoException;
  return new ReplayError('ERR_LIMITER_LOG', `cannot read ${quoted(name)}: ${WORDS[code] ?? message}`, { cause: error });
}
