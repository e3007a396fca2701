import { createHash } from 'node:crypto';
import type { PartMessage } from './staged-messages.ts';
import { SpoolError, type SpoolReader } from './spool.ts';

/**
 * A staged message's octets, held against the digest that was taken when the mail server handed it out.
 * @throws {SpoolError} at the end, when they are not the same
 */
export async function* verified(spool: SpoolReader, message: PartMessage): AsyncGenerator<Buffer> {
  const digest = createHash('sha256');
  for await (const chunk of spool.read(message)) {
    digest.update(chunk);
    yield chunk;
  }
  if (digest.digest('hex') !== message.sha256) throw new SpoolError('A staged message is not what was fetched.');
}
