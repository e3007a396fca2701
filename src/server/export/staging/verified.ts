import { crc32 } from 'node:zlib';
import type { PartMessage } from './staged-messages.ts';
import { SpoolError, type SpoolReader } from './spool.ts';

/**
 * A staged message's octets, held against the checksum that was taken when the mail server handed it out.
 * @throws {SpoolError} at the end, when they are not the same
 */
export async function* verified(spool: SpoolReader, message: PartMessage): AsyncGenerator<Buffer> {
  let sum = 0;
  for await (const chunk of spool.read(message)) {
    sum = crc32(chunk, sum);
    yield chunk;
  }
  if (sum !== message.crc32) throw new SpoolError('A staged message is not what was fetched.');
}
