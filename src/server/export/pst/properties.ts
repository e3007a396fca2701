import type { Stored } from './node-database.ts';

/** MS-OXCDATA §2.11.1, those that are written here. */
export const TYPE = {
  integer16: 0x0002,
  integer32: 0x0003,
  boolean: 0x000b,
  object: 0x000d,
  integer64: 0x0014,
  string: 0x001f,
  time: 0x0040,
  binary: 0x0102,
  manyIntegers32: 0x1003,
  manyStrings: 0x101f,
  manyBinaries: 0x1102,
} as const;

/**
 * One property of an object. `value` is a number if it fits into the property's own four octets, otherwise the octets,
 * or the tree that already contains them.
 */
export type Property = {
  readonly id: number;
  readonly type: number;
  readonly value: number | Buffer | Stored;
};

export const integer = (id: number, value: number): Property => ({ id, type: TYPE.integer32, value: value >>> 0 });
export const shortInteger = (id: number, value: number): Property => ({ id, type: TYPE.integer16, value });
export const boolean = (id: number, value: boolean): Property => ({ id, type: TYPE.boolean, value: value ? 1 : 0 });
export const binary = (id: number, value: Buffer | Stored): Property => ({ id, type: TYPE.binary, value });

/** Text; in strings, U+0000 is replaced, since readers may stop there. */
export function text(id: number, value: string | Buffer | Stored): Property {
  const octets = typeof value === 'string' ? utf16(value) : value;
  return { id, type: TYPE.string, value: octets };
}

export function utf16(value: string): Buffer {
  return Buffer.from(value.replaceAll('\0', '\uFFFD').toWellFormed(), 'utf16le');
}

export function texts(id: number, values: readonly string[]): Property {
  return { id, type: TYPE.manyStrings, value: many(values.map(utf16)) };
}

export function binaries(id: number, values: readonly Buffer[]): Property {
  return { id, type: TYPE.manyBinaries, value: many(values) };
}

/** §2.3.3.4.2: the count, the offset of each, and then all values. */
function many(values: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(4 + values.length * 4);
  head.writeUInt32LE(values.length, 0);
  let at = head.length;
  for (const [index, value] of values.entries()) {
    head.writeUInt32LE(at, 4 + index * 4);
    at += value.length;
  }
  return Buffer.concat([head, ...values]);
}

const EPOCH_1601 = 11_644_473_600_000;
/** The year 9999, the latest that readers accept. */
const LATEST = 253_402_300_799_000;

/** Converts `milliseconds` since 1970 to steps of 100 ns since 1601. */
export function time(id: number, milliseconds: number): Property {
  const within = Math.min(Math.max(milliseconds, -EPOCH_1601), LATEST);
  const value = Buffer.alloc(8);
  value.writeBigUInt64LE(BigInt(Math.trunc(within) + EPOCH_1601) * 10_000n);
  return { id, type: TYPE.time, value };
}
