import type { Namespace } from '../copy/mapping.ts';
import type { ListedMessage, Mailbox, Message } from './message.ts';

/** A destination mailbox that messages are appended to. `uidNext` is a lower bound for what comes from now on. */
export type SelectedMailbox = {
  readonly path: string;
  readonly uidValidity: bigint;
  readonly uidNext: number;
  /** Of these flags the ones that this mailbox keeps, by its PERMANENTFLAGS; never `\Recent`. */
  readonly keeps: (flags: readonly string[]) => string[];
};

/** Why a message was not taken: for good, each in words for the subscriber in `reasons.ts`. */
export type RefusalReason = 'too large' | 'not accepted' | 'virus' | 'unreadable';

export type Appended =
  /** `uid` is missing when the server did not say it (no UIDPLUS, RFC 4315). */
  | { readonly kind: 'stored'; readonly uid?: number; readonly uidValidity?: bigint }
  | { readonly kind: 'refused'; readonly reason: RefusalReason };

export type NewMessage = Pick<Message, 'bytes' | 'flags' | 'internalDate'>;

/** Writes an account. Every method throws a `MailError` for what the server or the connection does. */
export type MailWriter = AsyncDisposable & {
  readonly namespace: Namespace;
  /** The mailboxes that messages can be put into. */
  mailboxes(): Promise<readonly Mailbox[]>;
  /** Creates a mailbox and subscribes to it; one that exists already is fine. */
  create(path: string): Promise<void>;
  select(path: string): Promise<SelectedMailbox>;
  /** Appends to the mailbox, byte for byte. Selects it first, because that tells which flags it keeps. */
  append(path: string, message: NewMessage): Promise<Appended>;
  /** Adds flags, so that a server that dropped them at the append has them after all. */
  addFlags(path: string, uid: number, flags: readonly string[]): Promise<void>;
  /** Lists from a UID on, as the mailbox is now. */
  list(path: string, fromUid: number): AsyncIterable<ListedMessage>;
  fetch(path: string, uids: readonly number[]): AsyncIterable<Message>;
  /** The Message-IDs, without their brackets, of what came to the mailbox since a day. */
  messageIds(path: string, since: Date): Promise<ReadonlySet<string>>;
};
