import { readablePath } from './wire/mailbox-name.ts';

/**
 * One mailbox of an account. `path` is the server's own name, decoded to Unicode as far as that can be sent as it was
 * listed, parts joined by `delimiter`; `specialUse` is the attribute of RFC 6154 (`\Sent`, `\All`, …), `\Inbox` for the
 * inbox.
 */
export type Mailbox = {
  readonly path: string;
  readonly delimiter: string;
  readonly specialUse?: string;
  /** Where it was asked for, and the server says it together with the listing. */
  readonly status?: MailboxStatus;
};

/** What STATUS tells of a mailbox; `uidValidity` is never 0. */
export type MailboxStatus = { readonly uidValidity: bigint; readonly uidNext: number; readonly exists: number };

type Named = Pick<Mailbox, 'path' | 'delimiter' | 'specialUse'>;

export function isInbox({ path, specialUse }: Named): boolean {
  return specialUse === '\\Inbox' || isInboxName(path);
}

/** In any case of ASCII: `ınbox`, which programs make of it in Turkish, is another mailbox, though its upper case is the same. */
export function isInboxName(name: string): boolean {
  return /^inbox$/i.test(name);
}

/** `INBOX.` on servers that keep every mailbox below the inbox (Courier, Cyrus): it is no level of the subscriber's. */
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
