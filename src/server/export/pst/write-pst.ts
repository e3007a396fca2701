import { createHash } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { MailParser } from '../mime/mail-parser.ts';
import { contactProperties, type PstContact } from './contact.ts';
import { MessageWriter, type MessageState, type WrittenMessage } from './message.ts';
import { NodeDatabase } from './node-database.ts';
import { boolean } from './properties.ts';
import type { Written } from './property-context.ts';
import { CONTENTS, DELETED_ITEMS, NODE_TYPE, TOP, writeStore, type FolderRole, type StoreFolder } from './store.ts';
import { Table } from './table-context.ts';
import { ValueWriter } from './value-writer.ts';

export type { FolderRole } from './store.ts';
export type { PstContact } from './contact.ts';

/** A folder by its names from the top, and its role. There is one folder for each role. */
export type PstFolder = { readonly path: readonly string[]; readonly role?: FolderRole };

/**
 * A message or a contact, and the number of its folder. `source` reads the message's octets, `size` of them, and may be
 * called more than once. `received` is in milliseconds since 1970; `flags` are IMAP's.
 */
export type PstItem =
  | {
      readonly folder: number;
      readonly size: number;
      readonly source: () => AsyncIterable<Uint8Array>;
      readonly received: number;
      readonly flags: readonly string[];
    }
  | { readonly folder: number; readonly contact: PstContact; readonly received: number };

export type PstOptions = {
  /** An empty folder, or one without names that begin like the files'. */
  readonly directory: string;
  /** The name of the files, without number and extension, and what Outlook shows. */
  readonly name: string;
  /** Different for each mailbox and each time it is written: Outlook takes two files with the same ID for one. */
  readonly id: string;
  readonly folders: readonly PstFolder[];
  /** Those of one folder must follow one another. */
  readonly items: AsyncIterable<PstItem>;
  /** A new file begins before one gets larger than this, as far as single messages allow. */
  readonly maxOctets?: number;
  readonly signal?: AbortSignal;
};

/** A complete file. `items`: how many messages and contacts are in it. */
export type PstFile = { readonly path: string; readonly size: number; readonly items: number };

/** Outlook's own limit is 50 GB; smaller files open sooner and are easier to repair. */
const MAX_OCTETS = 10_000_000_000;
/**
 * What the end of a file takes besides its B-trees: for the store, for each folder, and for each row of the last table.
 */
const STORE_OCTETS = 600_000;
const FOLDER_OCTETS = 8_000;
const ROW_OCTETS = 10;
/** The most that a message grows: all of its text takes twice the octets, and the original is stored beside it. */
const GROWTH = 3;
const MESSAGE_OCTETS = 32_000;
/** 21 bits number the nodes when they are sorted. */
const MAX_NODES = 1_500_000;
const MAX_HEAP_BLOCKS = 60_000;
const FIRST_MESSAGE = 0x10001;
const FIRST_FOLDER = 0x404;

/**
 * Writes a mailbox as Outlook data files (MS-PST, Unicode), one after another. The same input gives the same octets. If
 * it throws, the unfinished file is removed; those yielded before stay.
 */
export async function* writePst(options: PstOptions): AsyncGenerator<PstFile> {
  const { directory, name, items, maxOctets = MAX_OCTETS } = options;
  const iterator = items[Symbol.asyncIterator]();
  try {
    let next = await iterator.next();
    for (let number = 1; number === 1 || next.done !== true; number += 1) {
      const path = join(directory, `${name}${number === 1 ? '' : ` ${number}`}.pst`);
      const handle = await open(path, 'wx', 0o600);
      try {
        const file = new FileWriter(new NodeDatabase(handle), options, number);
        while (next.done !== true) {
          options.signal?.throwIfAborted();
          if (!file.hasRoomFor(next.value, maxOctets)) break;
          await file.add(next.value);
          next = await iterator.next();
        }
        await file.finish();
        await handle.sync();
        await handle.close();
        yield { path, size: file.size, items: file.items };
      } catch (error) {
        await handle.close();
        await rm(path, { force: true });
        throw error;
      }
    }
  } finally {
    await iterator.return?.();
  }
}

type Place = {
  readonly nid: number;
  readonly parent: number;
  readonly name: string;
  readonly role: FolderRole | undefined;
};
type Counted = { count: number; unread: number; contents: Written | undefined };

class FileWriter {
  readonly #database: NodeDatabase;
  readonly #options: PstOptions;
  readonly #number: number;
  readonly #places: readonly Place[];
  readonly #byItem: readonly number[];
  readonly #counted = new Map<number, Counted>();
  #open: { readonly nid: number; readonly table: Table } | undefined;
  items = 0;

  constructor(database: NodeDatabase, options: PstOptions, number: number) {
    this.#database = database;
    this.#options = options;
    this.#number = number;
    const { places, nids } = placesOf(options.folders);
    this.#places = places;
    this.#byItem = nids;
  }

  get size(): number {
    return this.#database.size;
  }

  hasRoomFor(item: PstItem, maxOctets: number): boolean {
    if (this.items === 0) return true;
    const next = 'contact' in item ? (item.contact.photo?.bytes.length ?? 0) : item.size * GROWTH;
    const rows = (this.#open?.table.rows ?? 0) * ROW_OCTETS;
    const end = this.#database.finishedSize + STORE_OCTETS + this.#places.length * FOLDER_OCTETS + rows;
    return (
      end + next + MESSAGE_OCTETS <= maxOctets &&
      this.#database.nodes < MAX_NODES &&
      (this.#open?.table.heapBlocks ?? 0) < MAX_HEAP_BLOCKS
    );
  }

  async add(item: PstItem): Promise<void> {
    const nid = this.#byItem[item.folder];
    if (nid === undefined) throw new RangeError('An item is in no folder of its mailbox.');
    if (this.#open?.nid !== nid) this.#openFolder(nid);
    this.items += 1;
    const state = {
      received: item.received,
      flags: 'contact' in item ? ['\\Seen'] : item.flags,
      key: digest(`${this.#options.id}/${this.#number}/${this.items}`),
    };
    const written = 'contact' in item ? this.#contact(item.contact, state) : await this.#message(item, state);
    const message = (FIRST_MESSAGE + this.items) * 32 + NODE_TYPE.message;
    this.#database.addNode({ nid: message, data: written.data, subnodes: written.subnodes, parent: nid });
    this.#open?.table.addRow(message, written.properties);
    const counted = this.#counted.get(nid);
    if (counted !== undefined) {
      counted.count += 1;
      if (!written.isRead) counted.unread += 1;
    }
    await this.#database.flush();
  }

  #openFolder(nid: number): void {
    this.#closeFolder();
    if (this.#counted.has(nid)) throw new RangeError('The items of a folder come one after another.');
    this.#counted.set(nid, { count: 0, unread: 0, contents: undefined });
    this.#open = { nid, table: new Table(this.#database, CONTENTS) };
  }

  #closeFolder(): void {
    const counted = this.#open === undefined ? undefined : this.#counted.get(this.#open.nid);
    if (counted !== undefined) counted.contents = this.#open?.table.finish();
    this.#open = undefined;
  }

  async #message({ source }: Extract<PstItem, { source: unknown }>, state: MessageState): Promise<WrittenMessage> {
    const writer = new MessageWriter(this.#database, state);
    const parser = new MailParser(writer);
    for await (const chunk of source()) {
      parser.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
      await this.#database.flush();
    }
    parser.end();
    if (writer.isFaulty) {
      const original = new ValueWriter(this.#database);
      for await (const chunk of source()) {
        original.write(chunk);
        await this.#database.flush();
      }
      writer.attachFile('Original message.eml', 'message/rfc822', original.end());
    }
    return writer.finish();
  }

  #contact(contact: PstContact, state: MessageState): WrittenMessage {
    const writer = new MessageWriter(this.#database, state);
    if (contact.photo !== undefined) {
      const photo = new ValueWriter(this.#database);
      photo.write(contact.photo.bytes);
      writer.attachFile('ContactPicture.jpg', contact.photo.mediaType, photo.end(), [boolean(0x7fff, true)]);
    }
    return writer.finish('IPM.Contact', contactProperties(contact));
  }

  async finish(): Promise<void> {
    this.#closeFolder();
    const used = new Set<number>();
    for (const place of this.#places) {
      if (this.#number > 1 && !this.#counted.has(place.nid)) continue;
      for (let at: Place | undefined = place; at !== undefined; at = this.#places.find(({ nid }) => nid === at?.parent))
        used.add(at.nid);
    }
    const folders = this.#places
      .filter(({ nid }) => used.has(nid))
      .map((place): StoreFolder => ({
        ...place,
        ...(this.#counted.get(place.nid) ?? { count: 0, unread: 0, contents: undefined }),
      }));
    const { id, name } = this.#options;
    writeStore(this.#database, { uid: digest(`${id}/${this.#number}`), name, folders });
    await this.#database.flush();
    await this.#database.finish({
      [NODE_TYPE.folder]: FIRST_FOLDER + this.#places.length,
      [NODE_TYPE.searchFolder]: 0x4000,
      [NODE_TYPE.message]: FIRST_MESSAGE + this.items + 1,
      8: 0x8000,
    });
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest().subarray(0, 16);
}

/** A place for each folder, including unnamed ones in between. */
function placesOf(folders: readonly PstFolder[]): { places: Place[]; nids: number[] } {
  const places = new Map<string, Place>();
  const roles = new Map(folders.map(({ path, role }) => [JSON.stringify(path), role]));
  const placeOf = (path: readonly string[]): number => {
    if (path.length === 0) return TOP;
    const key = JSON.stringify(path);
    const known = places.get(key);
    if (known !== undefined) return known.nid;
    const parent = placeOf(path.slice(0, -1));
    const role = roles.get(key);
    const nid = role === 'trash' ? DELETED_ITEMS : (FIRST_FOLDER + places.size) * 32 + NODE_TYPE.folder;
    places.set(key, { nid, parent, name: path.at(-1) ?? '', role });
    return nid;
  };
  const nids = folders.map(({ path }) => placeOf(path));
  return { places: [...places.values()], nids };
}
