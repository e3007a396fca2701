import { readablePath } from './wire/mailbox-name.ts';

/**
 * One mailbox of an account. `path` is its name on the server, with `delimiter` between the parts; decoded to Unicode
 * if that encodes back to exactly the listed name. `specialUse` is the attribute of RFC 6154 (`\Sent`, `\All`, …),
 * `\Inbox` for the inbox.
 */
export type Mailbox = {
  readonly path: string;
  readonly delimiter: string;
  readonly specialUse?: string;
  /** Present if it was asked for and the server sends it with the listing. */
  readonly status?: MailboxStatus;
};

/** What STATUS tells of a mailbox; `uidValidity` is never 0. */
export type MailboxStatus = { readonly uidValidity: bigint; readonly uidNext: number; readonly exists: number };

type Named = Pick<Mailbox, 'path' | 'delimiter' | 'specialUse'>;

export function isInbox({ path, specialUse }: Named): boolean {
  return specialUse === '\\Inbox' || isInboxName(path);
}

/**
 * Only the case of ASCII is ignored: `ınbox`, which programs make of INBOX in Turkish, is another mailbox, though its
 * upper case is the same.
 */
export function isInboxName(name: string): boolean {
  return /^inbox$/i.test(name);
}

/**
 * The prefix that is no folder of the subscriber's: `INBOX.` on servers that keep every mailbox below the inbox
 * (Courier, Cyrus).
 */
export function personalPrefix(mailboxes: readonly Named[]): string {
  const others = mailboxes.filter((mailbox) => !isInbox(mailbox));
  const [first] = others;
  if (first === undefined || first.delimiter === '') return '';
  const prefix = `INBOX${first.delimiter}`;
  return others.every(({ path }) => isBelow(path, prefix)) ? prefix : '';
}

/** The mailbox's path as its owner reads it, without what {@link personalPrefix} found. */
export function ownPath({ path }: Pick<Mailbox, 'path'>, prefix: string): string {
  return readablePath(prefix !== '' && isBelow(path, prefix) ? path.slice(prefix.length) : path);
}

const INBOX_LENGTH = 'INBOX'.length;

function isBelow(path: string, prefix: string): boolean {
  return isInboxName(path.slice(0, INBOX_LENGTH)) && path.startsWith(prefix.slice(INBOX_LENGTH), INBOX_LENGTH);
}
