import type { KeyObject } from 'node:crypto';
import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { harmless } from '../spreadsheet.ts';
import type { Item } from './items.ts';

/** An Ed25519 private key of 32 octets as PKCS #8 has it (RFC 8410 §7). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

/** What receipts are signed with. @param seed 32 octets */
export function receiptKey(seed: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' });
}

/** The public half, as PEM. */
export function publicPem(key: KeyObject): string {
  return createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString();
}

/**
 * The cells of an item in every format, harmless in a spreadsheet: kind, folder, date, subject, size, sha256, fate,
 * note.
 */
export function cellsOf(item: Omit<Item, 'kind' | 'fate'> & { kind: string; fate: string }): string[] {
  const { kind, folder, date, subject, size, sha256, fate, note } = item;
  return [kind, folder, date, subject, size === null ? '' : `${size}`, sha256, fate, note].map(harmless);
}

/** A digest over all cells, in order: a receipt with one line changed, added or missing has another. */
export function openListDigest(): { readonly add: (cells: readonly string[]) => void; readonly end: () => string } {
  const hash = createHash('sha256');
  return {
    add: (cells) => {
      hash.update(`${JSON.stringify(cells)}\n`);
    },
    end: () => hash.digest('hex'),
  };
}

/** @param key the private one. @returns an Ed25519 signature, in base64 */
export function signatureOf(statement: string, key: KeyObject): string {
  return sign(null, Buffer.from(statement, 'utf8'), key).toString('base64');
}

/** @param key the public one */
export function isSigned(statement: string, signature: string, key: KeyObject): boolean {
  return verify(null, Buffer.from(statement, 'utf8'), key, Buffer.from(signature, 'base64'));
}
