import { crcOf } from './layout.ts';
import { binary, integer, type Property } from './properties.ts';

const ADDRESS = '00062004-0000-0000-c000-000000000046';
const COMMON = '00062008-0000-0000-c000-000000000046';
const PUBLIC_STRINGS = '00020329-0000-0000-c000-000000000046';

type Name = { readonly set: string; readonly name: number | string };

/**
 * Every named property that is written here (MS-OXPROPS). Their IDs begin at 0x8000. Readers of the java-libpst family
 * miss the last one.
 */
const NAMES = {
  keywords: { set: PUBLIC_STRINGS, name: 'Keywords' },
  flagRequest: { set: COMMON, name: 0x8530 },
  fileUnder: { set: ADDRESS, name: 0x8005 },
  fileUnderId: { set: ADDRESS, name: 0x8006 },
  hasPicture: { set: ADDRESS, name: 0x8015 },
  homeAddress: { set: ADDRESS, name: 0x801a },
  workAddress: { set: ADDRESS, name: 0x801b },
  otherAddress: { set: ADDRESS, name: 0x801c },
  postalAddressId: { set: ADDRESS, name: 0x8022 },
  emailList: { set: ADDRESS, name: 0x8028 },
  emailKinds: { set: ADDRESS, name: 0x8029 },
  webPage: { set: ADDRESS, name: 0x802b },
  phoneticGiven: { set: ADDRESS, name: 0x802c },
  phoneticFamily: { set: ADDRESS, name: 0x802d },
  workStreet: { set: ADDRESS, name: 0x8045 },
  workCity: { set: ADDRESS, name: 0x8046 },
  workState: { set: ADDRESS, name: 0x8047 },
  workPostalCode: { set: ADDRESS, name: 0x8048 },
  workCountry: { set: ADDRESS, name: 0x8049 },
  workPostOfficeBox: { set: ADDRESS, name: 0x804a },
  messenger: { set: ADDRESS, name: 0x8062 },
  birthdayLocal: { set: ADDRESS, name: 0x80de },
  anniversaryLocal: { set: ADDRESS, name: 0x80df },
  email1DisplayName: { set: ADDRESS, name: 0x8080 },
  email1AddressType: { set: ADDRESS, name: 0x8082 },
  email1Address: { set: ADDRESS, name: 0x8083 },
  email1OriginalDisplayName: { set: ADDRESS, name: 0x8084 },
  email1EntryId: { set: ADDRESS, name: 0x8085 },
  email2DisplayName: { set: ADDRESS, name: 0x8090 },
  email2AddressType: { set: ADDRESS, name: 0x8092 },
  email2Address: { set: ADDRESS, name: 0x8093 },
  email2OriginalDisplayName: { set: ADDRESS, name: 0x8094 },
  email2EntryId: { set: ADDRESS, name: 0x8095 },
  email3DisplayName: { set: ADDRESS, name: 0x80a0 },
  email3AddressType: { set: ADDRESS, name: 0x80a2 },
  email3Address: { set: ADDRESS, name: 0x80a3 },
  email3OriginalDisplayName: { set: ADDRESS, name: 0x80a4 },
  email3EntryId: { set: ADDRESS, name: 0x80a5 },
} as const satisfies Record<string, Name>;

export type NamedProperty = keyof typeof NAMES;

const FIRST = 0x8000;
const IDS = new Map(Object.keys(NAMES).map((name, index) => [name, FIRST + index]));

export function idOf(name: NamedProperty): number {
  const id = IDS.get(name);
  if (id === undefined) throw new Error('That property has no name.');
  return id;
}

/** The most that Outlook accepts. */
const BUCKETS = 251;

/** The properties of the node that maps names to IDs (MS-PST §2.4.7). */
export function nameMap(): Property[] {
  const sets: string[] = [];
  const entries: Buffer[] = [];
  const strings: Buffer[] = [];
  const buckets = new Map<number, Buffer[]>();
  let stringsAt = 0;
  for (const [index, { set, name }] of Object.values<Name>(NAMES).entries()) {
    const isText = typeof name === 'string';
    // 1 is PS_MAPI and 2 PS_PUBLIC_STRINGS; the stream of sets begins with the third.
    if (set !== PUBLIC_STRINGS && !sets.includes(set)) sets.push(set);
    const kind = (set === PUBLIC_STRINGS ? 2 : sets.indexOf(set) + 3) * 2 + (isText ? 1 : 0);
    const octets = isText ? Buffer.from(name, 'utf16le') : Buffer.alloc(0);
    const entry = (value: number) => {
      const bytes = Buffer.alloc(8);
      bytes.writeUInt32LE(value, 0);
      bytes.writeUInt16LE(kind, 4);
      bytes.writeUInt16LE(index, 6);
      return bytes;
    };
    entries.push(entry(isText ? stringsAt : name));
    const hashed = isText ? crcOf(octets) : name;
    const bucket = ((hashed ^ kind) >>> 0) % BUCKETS;
    buckets.set(bucket, [...(buckets.get(bucket) ?? []), entry(hashed)]);
    if (!isText) continue;
    const length = Buffer.alloc(4);
    length.writeUInt32LE(octets.length);
    const padded = Buffer.concat([length, octets, Buffer.alloc(-octets.length & 3)]);
    strings.push(padded);
    stringsAt += padded.length;
  }
  return [
    integer(0x0001, BUCKETS),
    binary(0x0002, Buffer.concat(sets.map(guid))),
    binary(0x0003, Buffer.concat(entries)),
    binary(0x0004, Buffer.concat(strings)),
    ...[...buckets].map(([bucket, own]) => binary(0x1000 + bucket, Buffer.concat(own))),
  ];
}

/** A GUID's octets: its first three fields are little-endian. */
function guid(text: string): Buffer {
  const bytes = Buffer.from(text.replaceAll('-', ''), 'hex');
  bytes.subarray(0, 4).reverse();
  bytes.subarray(4, 6).reverse();
  bytes.subarray(6, 8).reverse();
  return bytes;
}
