import type { Contact } from '../../../contract/contact.ts';
import type { StagedMessages, PartMailbox, PartMessage } from '../staging/staged-messages.ts';
import type { RoomWatch } from '../staging/disk-room.ts';
import type { LineEndsReader } from './mbox.ts';
import type { ArchiveFile } from './zip-archive.ts';

/** A file of the archive; `sha256` where it is known without reading it. */
export type PartFileContent = ArchiveFile & { readonly sha256?: string };

/** Where a message lies: the file's path in the archive, and what else is needed to get it out of that file. */
export type MessagePlace = { readonly path: string; readonly more: Readonly<Record<string, string | number>> };

/** What is written of a part. */
export type PartSource = {
  readonly part: number;
  readonly isLast: boolean;
  readonly ledger: StagedMessages;
  /** A message's octets as they were fetched. Each chunk is good until the next one is asked for. @throws {SpoolError} */
  readonly octets: (message: PartMessage) => AsyncIterable<Buffer>;
  readonly provider: string;
  readonly made: Date;
  /** This part's alone, among all exports; the same when it is written again. */
  readonly id: string;
  /** A folder for what is needed until the archive is written. */
  readonly scratch: string;
  readonly signal: AbortSignal;
  /** Is told of what goes to the disk; of a file of the archive it is told already. */
  readonly onWritten: RoomWatch;
  /** The contacts, if they go into the same files as the mail. */
  readonly contacts: (() => AsyncIterable<Contact>) | undefined;
};

/** `header` is the beginning of a message, with its header in it. */
export type LabelledMessage = { readonly header: Buffer; readonly internalDate: Date };

/** Beside each message its entry, its lines in the manifests, and what the page shows of it. */
export function roomInArchive({ octets, messages }: PartSize): number {
  return octets + 1000 * messages;
}

type PartSize = { readonly octets: number; readonly messages: number };

export type MailFormat = {
  /** Messages in one part at most: what is kept of each until the part is written must fit in memory. */
  readonly partMessages: number;
  /** What a part takes of the disk at most while it is written, besides what is staged, in octets, by what is in it. */
  room(part: PartSize): number;
  /** What is noted of a message when it is staged: its file's name, or whatever the format needs of its header. */
  label(message: LabelledMessage, number: number): string;
  /** Looks at a message's octets when it is staged, for a format that changes line ends; others keep them. */
  readonly openLineEnds?: () => LineEndsReader;
  files(source: PartSource): AsyncIterable<PartFileContent>;
  /** The path of what stands for a mailbox without messages, if something does; a folder's ends with `/`. */
  empty(folder: string): string | undefined;
  /** `index` counts the messages of this mailbox in this part, from 1. */
  place(message: PartMessage, mailbox: PartMailbox, index: number): MessagePlace;
  /** The file that the contacts are in, for a format that takes them among the mail; known after {@link files}. */
  readonly contactsPath?: () => string;
  /** Lines for the archive's README. */
  readonly about: readonly string[];
};
