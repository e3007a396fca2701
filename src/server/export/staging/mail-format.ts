import type { Contact } from '../../contacts/contact.ts';
import type { RoomWatch } from '../disk/disk-room.ts';
import type { StagedMessages } from './staged-messages.ts';
import type { LineEndsReader, PartMailbox, PartMessage } from './staged.ts';

/**
 * `path`: in the archive, parts joined by `/`; an empty folder's ends with one. `content`: read once, when its turn
 * comes; each chunk is valid until the next one is requested. `grain`: the size of the messages in it, in octets, which
 * decides whether it is compressed. `known`: size and checksum of what is staged, if known before reading.
 * `packedSize`: if given, `content` is already deflated and has that many octets, and must throw if they are not what
 * was deflated.
 */
export type ArchiveFile = {
  readonly path: string;
  readonly modified: Date;
  readonly grain: number;
  readonly content: () => AsyncIterable<Uint8Array>;
  readonly known?: { readonly size: number; readonly crc32: number; readonly packedSize?: number };
};

/** A file of the archive; `sha256` if it is known without reading the file. */
export type PartFileContent = ArchiveFile & { readonly sha256?: string };

/** Where a message is: the file's path in the archive, and what else is needed to extract it from that file. */
export type MessagePlace = { readonly path: string; readonly more: Readonly<Record<string, string | number>> };

/** A part to be written. */
export type PartSource = {
  readonly part: number;
  readonly isLast: boolean;
  readonly ledger: StagedMessages;
  /** A message's octets as they are staged, for a file of which the archive checks what is `known`. */
  readonly staged: (message: PartMessage) => AsyncIterable<Buffer>;
  /**
   * The same, verified to be as they were fetched. Each chunk is valid until the next one is requested.
   * @throws {SpoolError}
   */
  readonly octets: (message: PartMessage) => AsyncIterable<Buffer>;
  readonly provider: string;
  readonly made: Date;
  /** Unique to this part among all exports, and the same if it is written again. */
  readonly id: string;
  /** A folder for temporary files. */
  readonly scratch: string;
  readonly signal: AbortSignal;
  /** Called for what is written to the disk, except for the archive's files themselves. */
  readonly onWritten: RoomWatch;
  /** The contacts, if they go into the same files as the mail. */
  readonly contacts: (() => AsyncIterable<Contact>) | undefined;
};

/** `header` is the beginning of a message, with its header in it. */
export type LabelledMessage = { readonly header: Buffer; readonly internalDate: Date };

/**
 * The disk space that an archive takes: for each message its octets, its entry, its lines in the manifests, and what
 * the page shows of it.
 */
export function roomInArchive({ octets, messages }: PartSize): number {
  return octets + 1000 * messages;
}

type PartSize = { readonly octets: number; readonly messages: number };

export type MailFormat = {
  /** The most messages in one part: what is kept of each until the part is written must fit in memory. */
  readonly partMessages: number;
  /** The most disk space that writing a part takes, besides what is staged, in octets, depending on its contents. */
  room(part: PartSize): number;
  /** What is recorded of a message when it is staged: its file's name, or whatever the format needs from its header. */
  label(message: LabelledMessage, number: number): string;
  /** Examines a message's octets when it is staged, for formats that change line ends. */
  readonly openLineEnds?: () => LineEndsReader;
  files(source: PartSource): AsyncIterable<PartFileContent>;
  /** The path of whatever represents a mailbox without messages, if anything; a folder's ends with `/`. */
  empty(folder: string): string | undefined;
  /** `index` counts the messages of this mailbox in this part, from 1. */
  place(message: PartMessage, mailbox: PartMailbox, index: number): MessagePlace;
  /** The file with the contacts, for a format that puts them among the mail; known after {@link files}. */
  readonly contactsPath?: () => string;
  /** Lines for the archive's README. */
  readonly about: readonly string[];
};
