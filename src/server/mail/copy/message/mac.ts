import { createCipheriv, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Octets } from '../../imap/streams.ts';

/**
 * Of this process only: without it nobody can make other octets with the same tag (GCM without any text is GMAC). Octets
 * as a key take Node (24) four times as long, since it asks of them each time whether they are an object of this kind.
 */
const KEY = createSecretKey(randomBytes(32));
const NONCE_OCTETS = 12;
let nonces = 0n;

/**
 * By this a process recognises octets that it has sent: their GMAC (NIST SP 800-38D). It means nothing to any other
 * process.
 */
export type Mac = { readonly nonce: Buffer; readonly tag: Buffer };

/** Takes a small part of the time of SHA-256 for a large message, and more time than it for a small one. */
export function openMac(nonce = nextNonce()): { write(octets: Uint8Array): void; end(): Mac } {
  const cipher = createCipheriv('aes-256-gcm', KEY, nonce);
  return {
    write: (octets) => void cipher.setAAD(octets),
    end: () => {
      cipher.final();
      return { nonce, tag: cipher.getAuthTag() };
    },
  };
}

/** Reads all octets. @returns whether they are those that the MAC is of */
export async function isMacOf({ nonce, tag }: Mac, octets: Octets): Promise<boolean> {
  const mac = openMac(nonce);
  for await (const chunk of octets) mac.write(chunk);
  return timingSafeEqual(mac.end().tag, tag);
}

/** None is used for two messages (§8.2.1). */
function nextNonce(): Buffer {
  const nonce = Buffer.alloc(NONCE_OCTETS);
  nonce.writeBigUInt64BE(nonces, NONCE_OCTETS - 8);
  nonces += 1n;
  return nonce;
}
