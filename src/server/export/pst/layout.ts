import { crc32 } from 'node:zlib';

/** The most octets in one block (MS-PST §2.2.2.8). */
export const BLOCK_PAYLOAD = 8176;
/** What one bit of an allocation map represents (§2.2.2.7.2); every block begins at a multiple of it. */
export const SLOT = 64;
export const PAGE = 512;
/** The room in a page before its trailer (§2.2.2.7.1). */
export const PAGE_DATA = 496;

export const PAGE_TYPE = {
  blockTree: 0x80,
  nodeTree: 0x81,
  freeMap: 0x82,
  pageMap: 0x83,
  allocationMap: 0x84,
  freePageMap: 0x85,
  densityList: 0x86,
} as const;

/** CRC-32 without the inversions at start and end (§5.3). */
export function crcOf(bytes: Buffer): number {
  return ~crc32(bytes, 0xffff_ffff) >>> 0;
}

/** §5.5. Both numbers stay below 2^53; only their low 32 bits count. */
export function signatureOf(offset: number, bid: number): number {
  const mixed = ((offset % 0x1_0000_0000) ^ (bid % 0x1_0000_0000)) >>> 0;
  return (mixed >>> 16) ^ (mixed & 0xffff);
}

/** Writes a number below 2^53 as 64 bits. */
export function writeLong(into: Buffer, value: number, at: number): void {
  into.writeUInt32LE(value % 0x1_0000_0000, at);
  into.writeUInt32LE(Math.floor(value / 0x1_0000_0000), at + 4);
}

/** Fills in a page's trailer (§2.2.2.7.1). A map's BID is its own offset, and its signature 0. */
export function sealPage(page: Buffer, type: number, offset: number, bid: number): void {
  page.writeUInt8(type, PAGE_DATA);
  page.writeUInt8(type, PAGE_DATA + 1);
  page.writeUInt16LE(signatureOf(offset, bid), PAGE_DATA + 2);
  page.writeUInt32LE(crcOf(page.subarray(0, PAGE_DATA)), PAGE_DATA + 4);
  writeLong(page, bid, PAGE_DATA + 8);
}
