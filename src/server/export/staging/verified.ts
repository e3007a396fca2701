import { crc32 } from 'node:zlib';
import { SpoolError } from '../disk/spool.ts';

/**
 * Staged octets, checked against the checksum taken when they arrived.
 * @throws {SpoolError} at the end, if they differ
 */
export async function* verified(
  octets: AsyncIterable<Buffer>,
  staged: { readonly crc32: number },
): AsyncGenerator<Buffer> {
  let sum = 0;
  for await (const chunk of octets) {
    sum = crc32(chunk, sum);
    yield chunk;
  }
  if (sum !== staged.crc32) throw new SpoolError('What was staged is not what came.');
}
