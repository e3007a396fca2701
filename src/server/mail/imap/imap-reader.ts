import type { ImapFlow } from 'imapflow';
import { connect, type ConnectOptions, type MailAccount } from './connection.ts';
import { asking, fetchMessages, listMailboxes, listMessages, sayGoodbye } from './imap-mailbox.ts';
import { MailError } from './mail-error.ts';
import type { Mailbox, MailReader, OpenedMailbox } from './message.ts';

/**
 * Reads an account over one IMAP connection, by EXAMINE and BODY.PEEK only. One thing at a time.
 * @throws {MailError} here and in everything that the reader does.
 */
export async function openReader(account: MailAccount, options: ConnectOptions): Promise<MailReader> {
  const client = await connect(account, options);
  const open = async (mailbox: Mailbox) => {
    if (client.mailbox === false || client.mailbox.path !== mailbox.path || client.mailbox.readOnly !== true)
      await examine(client, mailbox);
  };
  return {
    mailboxes: () => listMailboxes(client),
    open: (mailbox) => examine(client, mailbox),
    async *list(mailbox) {
      await open(mailbox);
      yield* listMessages(client);
    },
    async *fetch(mailbox, uids) {
      await open(mailbox);
      yield* fetchMessages(client, uids);
    },
    [Symbol.asyncDispose]: () => sayGoodbye(client),
  };
}

async function examine(client: ImapFlow, mailbox: Mailbox): Promise<OpenedMailbox> {
  const opened = await asking(() => client.mailboxOpen(mailbox.path, { readOnly: true }));
  const { uidValidity, uidNext, exists } = opened;
  // RFC 9051 §2.3.1.1 demands a UIDVALIDITY; without one no message could be told from another after a reconnect.
  if (uidValidity === undefined || uidValidity === 0n)
    throw new MailError('refused', 'The mail server gives no UIDVALIDITY.');
  return { mailbox, uidValidity, uidNext, exists };
}
