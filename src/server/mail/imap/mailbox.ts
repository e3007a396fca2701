/**
 * One mailbox of an account. `path` is the server's own name, decoded to Unicode as far as that can be sent as it was
 * listed, parts joined by `delimiter`; `specialUse` is the attribute of RFC 6154 (`\Sent`, `\All`, …), `\Inbox` for the inbox.
 */
export type Mailbox = {
  readonly path: string;
  readonly delimiter: string;
  readonly specialUse?: string;
  readonly subscribed: boolean;
  /** Where it was asked for, and the server says it together with the listing. */
  readonly status?: MailboxStatus;
};

/** What STATUS tells of a mailbox; `uidValidity` is never 0. */
export type MailboxStatus = { readonly uidValidity: bigint; readonly uidNext: number; readonly exists: number };
