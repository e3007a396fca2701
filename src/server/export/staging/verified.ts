import { crc32 } from 'node:zlib';
import { SpoolError, type SpoolReader, type StagedOctets } from './spool.ts';

/**
 * Staged octets, held against the checksum that was taken when they came.
 * @throws {SpoolError} at the end, when they are not the same
 */
export async function* verified(
  spool: SpoolReader,
  staged: StagedOctets & { readonly crc32: number },
): AsyncGenerator<Buffer> {
  let sum = 0;
  for await (const chunk of spool.read(staged)) {
    sum = crc32(chunk, sum);
    yield chunk;
  }
  if (sum !== staged.crc32) throw new SpoolError('What was staged is not what came.');
}
