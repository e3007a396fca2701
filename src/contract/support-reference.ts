import type { SupportRequest } from './calls/support-form.ts';

/** No letter or digit that is taken for another when it is read out on the telephone. */
const SIGNS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const BITS = 5;
const GROUP = 4;

/**
 * What a message to support is called on the telephone, such as `7K2M-9XQ4`: made of the message itself, so that page and
 * letters have it without another field on the wire. It is no secret, and proves nothing.
 */
export function supportReference({ emailAddress, destinationEmail, migrationId, issue }: SupportRequest): string {
  const said = JSON.stringify([emailAddress, destinationEmail ?? '', migrationId ?? '', issue]);
  return [0x811c9dc5, 0x01000193].map((seed) => groupOf(said, seed)).join('-');
}

/** FNV-1a over UTF-16 code units (draft-eastlake-fnv), its first bits as four signs. */
function groupOf(text: string, seed: number): string {
  let hash = seed;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  // The last characters have reached the high bits only by now.
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return Array.from({ length: GROUP }, (_, at) => SIGNS[(hash >>> (32 - BITS * (at + 1))) & 31] ?? '').join('');
}
