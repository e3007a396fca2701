import type { Hash } from 'node:crypto';
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** The sums of a message's octets; `sha256` in hexadecimal digits. */
export type Sum = { readonly sha256: string; readonly crc32: number };

/** Where a message, or a part of it, is within some octets: with its beginning, its end, both or neither. */
export type Span = { readonly from: number; readonly to: number; readonly begins: boolean; readonly ends: boolean };

/**
 * Takes the octets of one message after another.
 * @returns the sums of the messages that end in them, in order
 */
export type MessageSums = (octets: Uint8Array, spans: readonly Span[]) => readonly Sum[];

export function openMessageSums(): MessageSums {
  let [digest, checksum]: [Hash, number] = [createHash('sha256'), 0];
  return (octets, spans) =>
    spans.flatMap(({ from, to, begins, ends }) => {
      // A message that has not ended is ignored.
      if (begins) [digest, checksum] = [createHash('sha256'), 0];
      const some = octets.subarray(from, to);
      digest.update(some);
      checksum = crc32(some, checksum);
      return ends ? [{ sha256: digest.digest('hex'), crc32: checksum }] : [];
    });
}
