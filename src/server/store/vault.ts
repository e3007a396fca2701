import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

const NONCE_LENGTH = 12;
const TAG_LENGTH = 16;
const NO_KEY = new Uint8Array();

/** A sealed secret was changed, belongs to another row, or was sealed with another key. */
export class SealError extends Error {
  override name = 'SealError';
}

/**
 * Seals secrets with AES-256-GCM. `place` names the row that a secret belongs to, such as
 * `credentials/<transfer>/source`; opened at any other place it is refused, and so without the `placeKey` it was sealed with.
 */
export type Vault = {
  seal(place: string, secret: string, placeKey?: Uint8Array): Buffer;
  /** @throws {SealError} */
  open(place: string, sealed: Uint8Array, placeKey?: Uint8Array): string;
  /** A keyed digest (HMAC-SHA-256, hex), for looking up by a secret that is not stored. */
  digest(purpose: string, text: string): string;
};

/** @param key 32 bytes: the setting `SECRET_KEY`. */
export function openVault(key: Uint8Array): Vault {
  if (key.length !== 32) throw new RangeError('A vault key has 32 bytes.');
  const sealing = (placeKey: Uint8Array = NO_KEY) => Buffer.from(hkdfSync('sha256', key, placeKey, 'seal', 32));
  const digesting = Buffer.from(hkdfSync('sha256', key, '', 'digest', 32));
  return {
    seal: (place, secret, placeKey) => {
      const nonce = randomBytes(NONCE_LENGTH);
      const cipher = createCipheriv('aes-256-gcm', sealing(placeKey), nonce).setAAD(Buffer.from(place));
      const body = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, body, cipher.getAuthTag()]);
    },
    open: (place, sealed, placeKey) => {
      try {
        const bytes = Buffer.from(sealed);
        const decipher = createDecipheriv('aes-256-gcm', sealing(placeKey), bytes.subarray(0, NONCE_LENGTH), {
          authTagLength: TAG_LENGTH,
        })
          .setAAD(Buffer.from(place))
          .setAuthTag(bytes.subarray(-TAG_LENGTH));
        return Buffer.concat([decipher.update(bytes.subarray(NONCE_LENGTH, -TAG_LENGTH)), decipher.final()]).toString(
          'utf8',
        );
      } catch (cause) {
        throw new SealError(`What is sealed at ${place} can't be opened.`, { cause });
      }
    },
    digest: (purpose, text) => createHmac('sha256', digesting).update(`${purpose}\n${text}`).digest('hex'),
  };
}
