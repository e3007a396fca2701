import type { SupportRequest } from './calls/support-form.ts';

/** Crockford's base32: without I, L, O and U, which are easily confused when read out on the telephone. */
const SIGNS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const BITS = 5;
const GROUP = 4;

/**
 * A reference for a support message that can be read out on the telephone, such as `7K2M-9XQ4`. It is derived from the
 * message, so that page and letters agree without another field on the wire. It is no secret, and proves nothing.
 */
export function supportReference({ emailAddress, destinationEmail, migrationId, issue }: SupportRequest): string {
  const said = JSON.stringify([emailAddress, destinationEmail ?? '', migrationId ?? '', issue]);
  return [0x811c9dc5, 0x01000193].map((seed) => groupOf(said, seed)).join('-');
}

/** FNV-1a over UTF-16 code units (draft-eastlake-fnv); its top 20 bits as four characters. */
function groupOf(text: string, seed: number): string {
  let hash = seed;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  // Mixes the last characters into the high bits, which FNV-1a alone doesn't.
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return Array.from({ length: GROUP }, (_, at) => SIGNS[(hash >>> (32 - BITS * (at + 1))) & 31] ?? '').join('');
}
