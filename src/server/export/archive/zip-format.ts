/**
 * The records of a ZIP file: APPNOTE.TXT 6.3.10, with its 64-bit extension (§4.3.14, §4.5.3) where a number needs it.
 */

/** What is known of an entry once it has been written. Sizes and the offset of its header are in octets. */
export type ZipEntry = {
  /** Parts joined by `/`; a folder's ends with one. */
  readonly path: string;
  readonly modified: Date;
  readonly method: 'stored' | 'deflated';
  readonly crc32: number;
  readonly size: number;
  readonly packedSize: number;
  readonly headerAt: number;
  /** Whether its header was written before checksum and sizes were known. */
  readonly isDescribedAfter: boolean;
};

const METHODS = { stored: 0, deflated: 8 } as const;
const DESCRIBED_AFTER = 1 << 3;
const UTF8 = 1 << 11;
/** Versions of the format: 2.0, and 4.5 for 64 bits. Made by Unix (3), with version 6.3. */
const [PLAIN, LARGE, MADE_BY] = [20, 45, (3 << 8) | 63];
const [FILE_MODE, FOLDER_MODE] = [0o100644, 0o40755];
const DOS_FOLDER = 0x10;
/** All bits set mean "see the 64-bit field". */
const [MOST_16, MOST_32] = [0xffff, 0xffff_ffff];
/** The flags of the field: only the time of modification. */
const MODIFIED_ONLY = Buffer.of(1);

/** §4.3.7. If checksum and sizes are not known yet, they follow the data: {@link descriptor}. */
export function localHeader(entry: Omit<ZipEntry, 'headerAt'>): Buffer {
  const { crc32, packedSize, size, modified, isDescribedAfter } = entry;
  const name = nameOf(entry.path);
  const time = exactTimeLength(modified);
  const header = new Filling(30 + name.length + time).long(0x0403_4b50).short(PLAIN);
  putCommon(header, entry);
  if (isDescribedAfter) header.long(0).long(0).long(0);
  else header.long(crc32).long(packedSize).long(size);
  header.short(name.length).short(time).octets(name);
  putExactTime(header, modified);
  return header.end();
}

/** §4.3.9, with the signature that some readers require. */
export function descriptor({ crc32, packedSize, size }: Pick<ZipEntry, 'crc32' | 'packedSize' | 'size'>): Buffer {
  const isLarge = packedSize >= MOST_32 || size >= MOST_32;
  const start = new Filling(isLarge ? 24 : 16).long(0x0807_4b50).long(crc32);
  return (isLarge ? start.huge(packedSize).huge(size) : start.long(packedSize).long(size)).end();
}

const SIZES_LENGTH = 28;

/** §4.3.12. */
export function centralHeader(entry: ZipEntry): Buffer {
  const { path, crc32, packedSize, size, headerAt, modified } = entry;
  const name = nameOf(path);
  const isLarge = packedSize >= MOST_32 || size >= MOST_32 || headerAt >= MOST_32;
  const extra = exactTimeLength(modified) + (isLarge ? SIZES_LENGTH : 0);
  const attributes = path.endsWith('/') ? FOLDER_MODE * 0x1_0000 + DOS_FOLDER : FILE_MODE * 0x1_0000;
  const header = new Filling(46 + name.length + extra).long(0x0201_4b50).short(MADE_BY);
  putCommon(header.short(isLarge ? LARGE : PLAIN), entry);
  header.long(crc32);
  if (isLarge) header.long(MOST_32).long(MOST_32);
  else header.long(packedSize).long(size);
  header.short(name.length).short(extra);
  // No comment, on the first disk, no internal attributes.
  header.short(0).short(0).short(0);
  header.long(attributes).long(isLarge ? MOST_32 : headerAt);
  putExactTime(header.octets(name), modified);
  if (isLarge) header.short(0x0001).short(24).huge(size).huge(packedSize).huge(headerAt);
  return header.end();
}

/** §4.3.14 to §4.3.16: what a reader looks for first. */
export function endOfDirectory({
  entries,
  size,
  at,
}: {
  readonly entries: number;
  readonly size: number;
  readonly at: number;
}): Buffer {
  const isLarge = entries >= MOST_16 || size >= MOST_32 || at >= MOST_32;
  const records = new Filling(isLarge ? 98 : 22);
  if (isLarge) {
    records.long(0x0606_4b50).huge(44).short(MADE_BY).short(LARGE).long(0).long(0);
    records.huge(entries).huge(entries).huge(size).huge(at);
    records
      .long(0x0706_4b50)
      .long(0)
      .huge(at + size)
      .long(1);
  }
  const count = Math.min(entries, MOST_16);
  records.long(0x0605_4b50).short(0).short(0).short(count).short(count);
  return records.long(Math.min(size, MOST_32)).long(Math.min(at, MOST_32)).short(0).end();
}

/**
 * A record of known length, filled from its beginning; numbers are little-endian. An archive has two for each message.
 */
class Filling {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(length: number) {
    this.#bytes = Buffer.allocUnsafe(length);
  }

  short(value: number): this {
    this.#at = this.#bytes.writeUInt16LE(value, this.#at);
    return this;
  }

  long(value: number): this {
    this.#at = this.#bytes.writeUInt32LE(value, this.#at);
    return this;
  }

  huge(value: number): this {
    this.#at = this.#bytes.writeBigUInt64LE(BigInt(value), this.#at);
    return this;
  }

  octets(bytes: Uint8Array): this {
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
    return this;
  }

  end(): Buffer {
    if (this.#at !== this.#bytes.length) throw new Error('A record of an archive has another length than planned.');
    return this.#bytes;
  }
}

/** Flags, method and time are in both headers. */
function putCommon(header: Filling, { modified, method, isDescribedAfter }: Omit<ZipEntry, 'headerAt'>): void {
  header.short(UTF8 | (isDescribedAfter ? DESCRIBED_AFTER : 0)).short(METHODS[method]);
  putDosTime(header, modified);
}

/** @throws for a path that would leave the folder in which the archive is unpacked */
function nameOf(path: string): Buffer {
  if (/^[/\\]|\\|^[a-z]:|(?:^|\/)\.\.(?:\/|$)/i.test(path)) throw new Error('A path of an archive leads out of it.');
  return Buffer.from(path);
}

const [DOS_FIRST, DOS_LAST] = [Date.UTC(1980, 0, 1), Date.UTC(2107, 11, 31, 23, 59, 58)];

/** From 1980 to 2107, in steps of two seconds. */
function putDosTime(header: Filling, date: Date): void {
  const kept = new Date(Math.min(Math.max(date.getTime(), DOS_FIRST), DOS_LAST));
  header
    .short((kept.getUTCHours() << 11) | (kept.getUTCMinutes() << 5) | (kept.getUTCSeconds() >> 1))
    .short(((kept.getUTCFullYear() - 1980) << 9) | ((kept.getUTCMonth() + 1) << 5) | kept.getUTCDate());
}

const EXACT_TIME_LENGTH = 9;
const secondsOf = (date: Date) => Math.floor(date.getTime() / 1000);

/**
 * Info-ZIP's field 0x5455, in seconds since 1970, as DOS time has no zone. Left out for times that readers interpret
 * differently.
 */
function exactTimeLength(date: Date): number {
  const seconds = secondsOf(date);
  return seconds < 0 || seconds > 0x7fff_ffff ? 0 : EXACT_TIME_LENGTH;
}

function putExactTime(header: Filling, date: Date): void {
  if (exactTimeLength(date) > 0) header.short(0x5455).short(5).octets(MODIFIED_ONLY).long(secondsOf(date));
}
