/** The records of a ZIP file: APPNOTE.TXT 6.3.10, with its 64-bit extension (§4.3.14, §4.5.3) where a number needs it. */

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

/** §4.3.7. If checksum and sizes are not known yet, they follow the data: {@link descriptor}. */
export function localHeader(entry: Omit<ZipEntry, 'headerAt'>): Buffer {
  const { crc32, packedSize, size, isDescribedAfter } = entry;
  const name = nameOf(entry.path);
  const known = isDescribedAfter ? [0, 0, 0] : [crc32, packedSize, size];
  const time = exactTime(entry.modified);
  const lengths = [name.length, time.length].map((length): Field => [2, length]);
  const fixed = record([4, 0x0403_4b50], [2, PLAIN], ...common(entry), ...known.map(long), ...lengths);
  return Buffer.concat([fixed, name, time]);
}

/** §4.3.9, with the signature that some readers require. */
export function descriptor({ crc32, packedSize, size }: Pick<ZipEntry, 'crc32' | 'packedSize' | 'size'>): Buffer {
  const width = packedSize >= MOST_32 || size >= MOST_32 ? 8 : 4;
  return record([4, 0x0807_4b50], [4, crc32], [width, packedSize], [width, size]);
}

/** §4.3.12. */
export function centralHeader(entry: ZipEntry): Buffer {
  const { path, crc32, packedSize, size, headerAt } = entry;
  const name = nameOf(path);
  const isLarge = [packedSize, size, headerAt].some((number) => number >= MOST_32);
  const extra = Buffer.concat([
    exactTime(entry.modified),
    ...(isLarge ? [record([2, 0x0001], [2, 24], [8, size], [8, packedSize], [8, headerAt])] : []),
  ]);
  const attributes = path.endsWith('/') ? FOLDER_MODE * 0x1_0000 + DOS_FOLDER : FILE_MODE * 0x1_0000;
  const sizes = isLarge ? [MOST_32, MOST_32] : [packedSize, size];
  const fixed = record(
    [4, 0x0201_4b50],
    [2, MADE_BY],
    [2, isLarge ? LARGE : PLAIN],
    ...common(entry),
    long(crc32),
    ...sizes.map(long),
    [2, name.length],
    [2, extra.length],
    // No comment, on the first disk, no internal attributes.
    ...[0, 0, 0].map((none): Field => [2, none]),
    long(attributes),
    long(isLarge ? MOST_32 : headerAt),
  );
  return Buffer.concat([fixed, name, extra]);
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
  const large = [
    record(
      [4, 0x0606_4b50],
      [8, 44],
      [2, MADE_BY],
      [2, LARGE],
      [4, 0],
      [4, 0],
      [8, entries],
      [8, entries],
      [8, size],
      [8, at],
    ),
    record([4, 0x0706_4b50], [4, 0], [8, at + size], [4, 1]),
  ];
  const count: Field = [2, Math.min(entries, MOST_16)];
  const end = record(
    [4, 0x0605_4b50],
    [2, 0],
    [2, 0],
    count,
    count,
    long(Math.min(size, MOST_32)),
    long(Math.min(at, MOST_32)),
    [2, 0],
  );
  return Buffer.concat(isLarge ? [...large, end] : [end]);
}

/** A number in this many octets, little-endian. */
type Field = readonly [width: 1 | 2 | 4 | 8, value: number];

function record(...fields: readonly Field[]): Buffer {
  let length = 0;
  for (const [width] of fields) length += width;
  const bytes = Buffer.alloc(length);
  let at = 0;
  for (const [width, value] of fields) {
    if (width === 8) bytes.writeBigUInt64LE(BigInt(value), at);
    else bytes.writeUIntLE(value, at, width);
    at += width;
  }
  return bytes;
}

function long(value: number): Field {
  return [4, value];
}

/** Flags, method and time are in both headers. */
function common({ modified, method, isDescribedAfter }: Omit<ZipEntry, 'headerAt'>): Field[] {
  const [time, day] = dosTime(modified);
  return [
    [2, UTF8 | (isDescribedAfter ? DESCRIBED_AFTER : 0)],
    [2, METHODS[method]],
    [2, time],
    [2, day],
  ];
}

/** @throws for a path that would leave the folder in which the archive is unpacked */
function nameOf(path: string): Buffer {
  if (/^[/\\]|\\|^[a-z]:|(?:^|\/)\.\.(?:\/|$)/i.test(path)) throw new Error('A path of an archive leads out of it.');
  return Buffer.from(path);
}

/** From 1980 to 2107, in steps of two seconds. */
function dosTime(date: Date): [time: number, day: number] {
  const [first, last] = [Date.UTC(1980, 0, 1), Date.UTC(2107, 11, 31, 23, 59, 58)];
  const kept = new Date(Math.min(Math.max(date.getTime(), first), last));
  return [
    (kept.getUTCHours() << 11) | (kept.getUTCMinutes() << 5) | (kept.getUTCSeconds() >> 1),
    ((kept.getUTCFullYear() - 1980) << 9) | ((kept.getUTCMonth() + 1) << 5) | kept.getUTCDate(),
  ];
}

/** Info-ZIP's field 0x5455, in seconds since 1970, as DOS time has no zone; without what readers interpret differently. */
function exactTime(date: Date): Buffer {
  const seconds = Math.floor(date.getTime() / 1000);
  return seconds < 0 || seconds > 0x7fff_ffff ? Buffer.alloc(0) : record([2, 0x5455], [2, 5], [1, 1], [4, seconds]);
}
