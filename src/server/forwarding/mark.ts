import { createHash } from 'node:crypto';

const MARK_LENGTH = 16;

/**
 * The keyword by which a message in the old mailbox is known to have been forwarded to an address: what stays there is a
 * copy, and a later transfer to that address must not bring it again.
 */
export function markOf(address: string): string {
  const digest = createHash('sha256').update(address.toLowerCase()).digest('hex');
  return `forwarded-${digest.slice(0, MARK_LENGTH)}`;
}
