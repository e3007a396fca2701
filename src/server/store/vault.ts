import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

const NONCE_LENGTH = 12;
const TAG_LENGTH = 16;
const NO_KEY = new Uint8Array();
/** The first octet of a sealed secret, which identifies the algorithm. */
const AES_256_GCM = 1;
/** The key's name comes next. */
const KEY_NAME_LENGTH = 8;
const HEAD_LENGTH = 1 + KEY_NAME_LENGTH;

/** A sealed secret was modified, belongs to another row, or was sealed with an unknown key. */
export class SealError extends Error {
  override name = 'SealError';
}

/**
 * Seals secrets with AES-256-GCM. `place` names the row that a secret belongs to, such as
 * `credentials/<transfer>/source`; the secret can't be opened for any other place, or without the `placeKey` that it
 * was sealed with. A sealed secret begins with its algorithm's number and its key's name.
 */
export type Vault = {
  seal(place: string, secret: string, placeKey?: Uint8Array): Buffer;
  /**
   * Opens what the current key or a former one has sealed.
   * @throws {SealError}
   */
  open(place: string, sealed: Uint8Array, placeKey?: Uint8Array): string;
  /** A keyed digest (HMAC-SHA-256, hex), for looking things up by a secret that is not stored. */
  digest(purpose: string, text: string): string;
  /** The digests with the current key and each former one, for looking up what may be older than the current key. */
  digests(purpose: string, text: string): readonly string[];
};

type Key = {
  readonly name: Buffer;
  readonly sealing: (placeKey?: Uint8Array) => Buffer;
  readonly digest: (purpose: string, text: string) => string;
};

/**
 * @param secret 32 bytes: the setting `SECRET_KEY`.
 * @param former the keys in `FORMER_SECRET_KEYS`, which can still open but no longer seal.
 */
export function openVault(secret: Uint8Array, former: readonly Uint8Array[] = []): Vault {
  const key = keyOf(secret);
  const keys = [key, ...former.map(keyOf)];
  const head = Buffer.concat([Buffer.of(AES_256_GCM), key.name]);
  return {
    seal: (place, text, placeKey) => {
      const nonce = randomBytes(NONCE_LENGTH);
      const cipher = createCipheriv('aes-256-gcm', key.sealing(placeKey), nonce).setAAD(boundTo(head, place));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([head, nonce, body, cipher.getAuthTag()]);
    },
    open: (place, sealed, placeKey) => {
      const bytes = Buffer.from(sealed);
      const [sealedHead, rest] = [bytes.subarray(0, HEAD_LENGTH), bytes.subarray(HEAD_LENGTH)];
      const named = keys.find(({ name }) => sealedHead[0] === AES_256_GCM && name.equals(sealedHead.subarray(1)));
      try {
        if (named !== undefined) return decrypt(named.sealing(placeKey), rest, boundTo(sealedHead, place));
        return openWithoutHead(keys, place, bytes, placeKey);
      } catch (cause) {
        throw new SealError(`What is sealed at ${place} can't be opened.`, { cause });
      }
    },
    digest: key.digest,
    digests: (purpose, text) => keys.map(({ digest }) => digest(purpose, text)),
  };
}

function keyOf(secret: Uint8Array): Key {
  if (secret.length !== 32) throw new RangeError('A vault key has 32 bytes.');
  const digesting = Buffer.from(hkdfSync('sha256', secret, '', 'digest', 32));
  return {
    name: Buffer.from(hkdfSync('sha256', secret, '', 'name', KEY_NAME_LENGTH)),
    sealing: (placeKey = NO_KEY) => Buffer.from(hkdfSync('sha256', secret, placeKey, 'seal', 32)),
    digest: (purpose, text) => createHmac('sha256', digesting).update(`${purpose}\n${text}`).digest('hex'),
  };
}

function boundTo(head: Uint8Array, place: string): Buffer {
  return Buffer.concat([head, Buffer.from(place)]);
}

function decrypt(key: Buffer, sealed: Buffer, bound: Buffer): string {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_LENGTH), { authTagLength: TAG_LENGTH })
    .setAAD(bound)
    .setAuthTag(sealed.subarray(-TAG_LENGTH));
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_LENGTH, -TAG_LENGTH)), decipher.final()]).toString(
    'utf8',
  );
}

/** Opens a secret from before secrets were prefixed with their algorithm and key. */
function openWithoutHead(keys: readonly Key[], place: string, sealed: Buffer, placeKey?: Uint8Array): string {
  const faults: unknown[] = [];
  for (const { sealing } of keys) {
    try {
      return decrypt(sealing(placeKey), sealed, Buffer.from(place));
    } catch (error) {
      faults.push(error);
    }
  }
  throw faults[0];
}
