/** Whole numbers in a BLOB, eight bytes each: IEEE doubles, little endian, exact up to 2^53-1. */
import { Corrupt } from './faults.js';

/** A stored number. @throws Corrupt when it is none that this package writes */
export function stored(value: unknown, least = 0): number {
  if (!Number.isSafeInteger(value) || (value as number) < least) {
    throw new Corrupt(`a stored number must be whole, from ${least} to 2^53-1, got ${String(value)}`);
  }
  return value as number;
}

const LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** The bytes of `numbers`, which then belong to the result: what is stored is little endian everywhere. */
export function pack(numbers: Float64Array): Uint8Array {
  const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
  return LITTLE_ENDIAN ? bytes : swapped(bytes);
}

/** @throws Corrupt when this is not the work of `pack` */
export function unpack(blob: unknown): Float64Array {
  if (!(blob instanceof Uint8Array) || blob.byteLength % 8 !== 0) throw new Corrupt('a stored list has been damaged');
  const bytes = !LITTLE_ENDIAN ? swapped(blob) : blob.byteOffset % 8 === 0 ? blob : new Uint8Array(blob);
  const numbers = new Float64Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 8);
  for (let i = 0; i < numbers.length; i += 1) stored(numbers[i]);
  return numbers;
}

function swapped(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(bytes);
  for (let i = 0; i < copy.length; i += 8) copy.subarray(i, i + 8).reverse();
  return copy;
}
