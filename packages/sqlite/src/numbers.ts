/**
 * Whole numbers, 0 .. 2^53-1, in a BLOB: seven bits a byte, lowest first, the eighth bit says that more follow. Of a list of
 * entries each time is stored as what has passed since the one before, so that an entry mostly takes two or three bytes.
 */
import { Corrupt } from './faults.js';

/** A stored number. @throws Corrupt when it is none that this package writes */
export function stored(value: unknown, least = 0): number {
  if (!Number.isSafeInteger(value) || (value as number) < least) {
    throw new Corrupt(`a stored number must be whole, from ${least} to 2^53-1, got ${String(value)}`);
  }
  return value as number;
}

const LONGEST = 8;
const SMALL = 2 ** 31;
let bytes: Uint8Array = new Uint8Array(1_024);

/**
 * `head`, then `entries`: time and sum in turn, no time earlier than the one before.
 *
 * @returns a view of a buffer that the next call writes into: bind it at once
 */
export function pack(head: readonly number[], entries: readonly number[]): Uint8Array {
  const most = (head.length + entries.length) * LONGEST;
  if (bytes.length < most) bytes = new Uint8Array(most * 2);
  let end = 0;
  for (let i = 0; i < head.length; i += 1) end = put(end, head[i] as number);
  let before = 0;
  for (let i = 0; i < entries.length; i += 2) {
    const at = entries[i] as number;
    end = put(end, at - before);
    end = put(end, entries[i + 1] as number);
    before = at;
  }
  return bytes.subarray(0, end);
}

function put(from: number, value: number): number {
  let end = from;
  let rest = value;
  while (rest >= SMALL) {
    bytes[end++] = (rest % 128) | 128;
    rest = Math.floor(rest / 128);
  }
  while (rest >= 128) {
    bytes[end++] = (rest & 127) | 128;
    rest >>>= 7;
  }
  bytes[end++] = rest;
  return end;
}

/**
 * The numbers that `pack` was given, `head` of them before the entries.
 *
 * @throws Corrupt when this is not its work
 */
export function unpack(blob: unknown, head: number): number[] {
  if (!(blob instanceof Uint8Array)) throw damaged();
  const numbers: number[] = [];
  let value = 0;
  let unit = 1;
  let before = 0;
  let isTime = head === 0;
  for (let i = 0; i < blob.length; i += 1) {
    const byte = blob[i] as number;
    value += (byte & 127) * unit;
    if (byte >= 128) {
      unit *= 128;
      continue;
    }
    if (isTime) {
      value += before;
      before = value;
    }
    // Not `>`: it may have become NaN.
    if (!(value <= Number.MAX_SAFE_INTEGER)) throw damaged();
    numbers.push(value);
    value = 0;
    unit = 1;
    isTime = numbers.length >= head && !isTime;
  }
  if (unit !== 1 || numbers.length < head || (numbers.length - head) % 2 !== 0) throw damaged();
  return numbers;
}

function damaged(): Corrupt {
  return new Corrupt('a stored list has been damaged');
}
