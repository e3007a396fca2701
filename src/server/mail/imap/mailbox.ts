/**
 * One mailbox of an account. `path` is the server's own name, decoded to Unicode, parts joined by `delimiter`;
 * `specialUse` is the attribute of RFC 6154 (`\Sent`, `\All`, …), `\Inbox` for the inbox.
 */
export type Mailbox = {
  readonly path: string;
  readonly delimiter: string;
  readonly specialUse?: string;
  readonly subscribed: boolean;
};
