import type { Address } from '../mime/header-fields.ts';
import { binary, text, utf16, type Property } from './properties.ts';

/** A person's name, address type, address, entry ID, search key and SMTP address. */
export function person(address: Address, ids: readonly [number, number, number, number, number, number]): Property[] {
  return [
    text(ids[0], address.name || address.email),
    text(ids[1], 'SMTP'),
    text(ids[2], address.email),
    binary(ids[3], oneOff(address)),
    binary(ids[4], searchKey(address)),
    text(ids[5], address.email),
  ];
}

const ONE_OFF = Buffer.from('00000000812b1fa4bea310199d6e00dd010f5402', 'hex');

/** An address that is in no address book (MS-OXCDATA §2.2.5.1). */
export function oneOff({ name, email }: Address): Buffer {
  const strings = [name || email, 'SMTP', email].flatMap((each) => [utf16(each), Buffer.alloc(2)]);
  // Unicode, and no rich text for this one.
  return Buffer.concat([ONE_OFF, Buffer.from([0, 0, 0x01, 0x90]), ...strings]);
}

export function searchKey({ email }: Address): Buffer {
  return Buffer.from(`SMTP:${email.toUpperCase()}\0`);
}

/** MS-OXCDATA §2.3.3: the count, the size, and each one with its length, padded to four octets. */
export function entryList(all: readonly Address[]): Buffer {
  const entries = all.map((address) => {
    const entry = oneOff(address);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(entry.length);
    return Buffer.concat([length, entry, Buffer.alloc(-entry.length & 3)]);
  });
  const body = Buffer.concat(entries);
  const head = Buffer.alloc(8);
  head.writeUInt32LE(all.length, 0);
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body]);
}
