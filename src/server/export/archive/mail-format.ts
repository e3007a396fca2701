import type { Message } from '../../mail/imap/message.ts';
import type { StagedMessages, PartMailbox, PartMessage } from '../staging/staged-messages.ts';
import type { SpoolReader } from '../staging/spool.ts';
import type { ArchiveFile } from './zip-archive.ts';

/** A file of the archive; `sha256` where it is known without reading it. */
export type PartFileContent = ArchiveFile & { readonly sha256?: string };

/** Where a message lies: the file's path in the archive, and what else is needed to get it out of that file. */
export type MessagePlace = { readonly path: string; readonly more: Readonly<Record<string, string | number>> };

/** What is written of a part. */
export type PartSource = { readonly part: number; readonly ledger: StagedMessages; readonly spool: SpoolReader };

export type MailFormat = {
  /** What is noted of a message when it is staged: its file's name, or whatever the format needs of its header. */
  label(message: Message, number: number): string;
  files(source: PartSource): AsyncIterable<PartFileContent>;
  /** The path of what stands for a mailbox without messages; a folder's ends with `/`. */
  empty(folder: string): string;
  /** `index` counts the messages of this mailbox in this part, from 1. */
  place(message: PartMessage, mailbox: PartMailbox, index: number): MessagePlace;
  /** Lines for the archive's README. */
  readonly about: readonly string[];
};
