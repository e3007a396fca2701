import type { FileHandle } from 'node:fs/promises';
import { PAGE, PAGE_DATA, PAGE_TYPE, sealPage, SLOT } from './layout.ts';

/** What one allocation map covers: 496 octets of bits, each for 64 octets, beginning with its own page (§2.2.2.7.2). */
const INTERVAL = PAGE_DATA * 8 * SLOT;
const FIRST_INTERVAL = 0x4400;
const DENSITY_LIST = 0x4200;

/** A BREF (§2.2.2.4): a page by its BID and where it is. */
export type PageReference = { readonly bid: number; readonly offset: number };
/**
 * What the header says about the space: the offset of the last allocation map, free octets, and the next page's BID.
 */
export type SpaceTotals = { readonly lastMap: number; readonly free: number; readonly nextPage: number };

/**
 * The space of one new file, allocated from front to back. A full interval, with its complete allocation map, waits in
 * memory for {@link flush}.
 */
export class FileSpace {
  readonly #handle: FileHandle;
  #interval: Buffer = Buffer.alloc(INTERVAL);
  #intervals = 0;
  #at = 0;
  #free = 0;
  readonly #full: { readonly bytes: Buffer; readonly offset: number }[] = [];
  readonly #spare: Buffer[] = [];
  #nextPage = 4;

  constructor(handle: FileHandle) {
    this.#handle = handle;
    this.#beginInterval();
  }

  /** The file's size so far in octets, rounded up as it will be. */
  get size(): number {
    return FIRST_INTERVAL + this.#intervals * INTERVAL;
  }

  /** Whether {@link flush} has something to write. */
  get isWaiting(): boolean {
    return this.#full.length > 0;
  }

  /** Allocates room within one interval. @returns its offset */
  allocate(length: number, alignment: number): number {
    this.#at = Math.ceil(this.#at / alignment) * alignment;
    if (this.#at + length > INTERVAL) {
      this.#endInterval();
      this.#beginInterval();
      this.#at = Math.ceil(this.#at / alignment) * alignment;
    }
    const from = this.#at;
    this.#at += length;
    for (let slot = from / SLOT; slot < this.#at / SLOT; slot += 1) {
      const octet = this.#interval[slot >> 3] ?? 0;
      this.#interval[slot >> 3] = octet | (0x80 >> (slot & 7));
    }
    return this.#intervalStart() + from;
  }

  /** The octets of the room allocated last, initially 0. */
  bytesAt(offset: number, length: number): Buffer {
    const from = offset - this.#intervalStart();
    return this.#interval.subarray(from, from + length);
  }

  /** Allocates room for a page of a tree, and completes its trailer. */
  addPage(page: Buffer, type: number): PageReference {
    const bid = this.#pageBid();
    const offset = this.allocate(PAGE, PAGE);
    sealPage(page, type, offset, bid);
    page.copy(this.#interval, offset - this.#intervalStart());
    return { bid, offset };
  }

  /** Writes what is complete to the file. */
  async flush(): Promise<void> {
    for (let next = this.#full.shift(); next !== undefined; next = this.#full.shift()) {
      await this.#write(next.bytes, next.offset);
      this.#spare.push(next.bytes.fill(0));
    }
  }

  /** Writes everything that is left except the header. */
  async finish(): Promise<SpaceTotals> {
    this.#endInterval();
    await this.flush();
    const densityList = Buffer.alloc(PAGE);
    sealPage(densityList, PAGE_TYPE.densityList, DENSITY_LIST, this.#pageBid());
    await this.#write(densityList, DENSITY_LIST);
    return { lastMap: this.#intervalStart(), free: this.#free, nextPage: this.#nextPage };
  }

  /** Writes the header, which comes last and completes the file. */
  writeHeader(header: Buffer): Promise<void> {
    return this.#write(header, 0);
  }

  #pageBid(): number {
    const bid = this.#nextPage;
    this.#nextPage += 4;
    return bid;
  }

  #intervalStart(): number {
    return FIRST_INTERVAL + (this.#intervals - 1) * INTERVAL;
  }

  /**
   * Every interval begins with its allocation map, whose bits are set in place. After it come the maps that Outlook has
   * not used since 2007 but still checks for, each at intervals of its own (§2.2.2.7.3, 5, 6).
   */
  #beginInterval(): void {
    const number = this.#intervals;
    this.#intervals += 1;
    this.#at = 0;
    this.allocate(PAGE, PAGE);
    if (number % 8 === 0) this.#reserveMap(PAGE_TYPE.pageMap);
    if (number >= 128 && (number - 128) % 496 === 0) this.#reserveMap(PAGE_TYPE.freeMap);
    if (number >= 8192 && (number - 8192) % (496 * 64) === 0) this.#reserveMap(PAGE_TYPE.freePageMap);
  }

  #reserveMap(type: number): void {
    const offset = this.allocate(PAGE, PAGE);
    sealPage(this.bytesAt(offset, PAGE).fill(0xff, 0, PAGE_DATA), type, offset, offset);
  }

  #endInterval(): void {
    const map = this.#interval.subarray(0, PAGE);
    for (let index = 0; index < PAGE_DATA; index += 1)
      for (let bits = ~(map[index] ?? 0) & 0xff; bits !== 0; bits &= bits - 1) this.#free += SLOT;
    sealPage(map, PAGE_TYPE.allocationMap, this.#intervalStart(), this.#intervalStart());
    this.#full.push({ bytes: this.#interval, offset: this.#intervalStart() });
    this.#interval = this.#spare.pop() ?? Buffer.alloc(INTERVAL);
  }

  async #write(bytes: Buffer, offset: number): Promise<void> {
    for (let from = 0; from < bytes.length;) {
      const { bytesWritten } = await this.#handle.write(bytes, from, bytes.length - from, offset + from);
      from += bytesWritten;
    }
  }
}
