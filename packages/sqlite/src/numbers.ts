/** Whole numbers in a BLOB, eight bytes each: IEEE doubles, little endian, exact up to 2^53-1. */
import { Corrupt } from './faults.js';

/** A stored number. @throws Corrupt when it is none that this package writes */
export function stored(value: unknown, least = 0): number {
  if (!Number.isSafeInteger(value) || (value as number) < least) {
    throw new Corrupt(`a stored number must be whole, from ${least} to 2^53-1, got ${String(value)}`);
  }
  return value as number;
}

export function pack(numbers: readonly number[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(numbers.length * 8));
  for (let i = 0; i < numbers.length; i += 1) bytes.setFloat64(i * 8, numbers[i] as number, true);
  return new Uint8Array(bytes.buffer);
}

/** @throws Corrupt when this is not the work of `pack` */
export function unpack(blob: unknown): number[] {
  if (!(blob instanceof Uint8Array) || blob.byteLength % 8 !== 0) throw new Corrupt('a stored list has been damaged');
  const bytes = new DataView(blob.buffer, blob.byteOffset, blob.byteLength);
  const numbers: number[] = [];
  for (let i = 0; i < blob.byteLength; i += 8) numbers.push(stored(bytes.getFloat64(i, true)));
  return numbers;
}
