import { deflateRaw, deflateRawSync } from 'node:zlib';

/** The fastest level; the best one would shrink it hardly more. */
export const COMPRESSION = { level: 1 };
/** Sizes that need no larger window, in octets. */
const SMALL = 16 * 1024;
const COMPRESSION_OF_SMALL = { ...COMPRESSION, windowBits: 14, memLevel: 6 };
/** More than compression adds to octets that don't shrink. */
const ADDED = 64;

/** The octets of several files, concatenated, and the size of each. */
export type Files = { readonly octets: Uint8Array<ArrayBuffer>; readonly sizes: readonly number[] };
export type Deflated = readonly Uint8Array[];

/** Compresses each of the files in `octets` by itself (raw deflate). */
export function deflatedEach({ octets, sizes }: Files): Deflated {
  let at = 0;
  return sizes.map((size) => {
    const content = octets.subarray(at, at + size);
    at += size;
    const options = size < SMALL ? COMPRESSION_OF_SMALL : COMPRESSION;
    return deflateRawSync(content, { ...options, chunkSize: size + ADDED });
  });
}

/** On Node's thread pool. */
export function deflated(content: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // In one piece, as each further one would be a round trip to this thread.
    const options = { ...COMPRESSION, chunkSize: content.length + ADDED };
    deflateRaw(content, options, (error, packed) => (error === null ? resolve(packed) : reject(error)));
  });
}
