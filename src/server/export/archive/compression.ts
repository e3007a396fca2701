import { deflateRaw, deflateRawSync } from 'node:zlib';

/** The best level would take hardly more than the fastest. */
export const COMPRESSION = { level: 1 };
/** What needs no larger window, in octets. */
const SMALL = 16 * 1024;
const COMPRESSION_OF_SMALL = { ...COMPRESSION, windowBits: 14, memLevel: 6 };
/** More than that compressing adds to octets that don't shrink. */
const ADDED = 64;

/** Octets of several files, one after another, and how many each of them has. */
export type Files = { readonly octets: Uint8Array<ArrayBuffer>; readonly sizes: readonly number[] };
export type Deflated = readonly Uint8Array[];

/** Files that lie one after the other in `octets`, each compressed by itself (raw deflate). */
export function deflatedEach({ octets, sizes }: Files): Deflated {
  let at = 0;
  return sizes.map((size) => {
    const content = octets.subarray(at, at + size);
    at += size;
    const options = size < SMALL ? COMPRESSION_OF_SMALL : COMPRESSION;
    return deflateRawSync(content, { ...options, chunkSize: size + ADDED });
  });
}

/** By Node's other threads. */
export function deflated(content: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // In one piece: for each further one it would come back to this thread.
    const options = { ...COMPRESSION, chunkSize: content.length + ADDED };
    deflateRaw(content, options, (error, packed) => (error === null ? resolve(packed) : reject(error)));
  });
}
