import type { ImapFlow } from 'imapflow';
import { connect, type ConnectOptions, type MailAccount } from './connection.ts';
import { asking, listMailboxes, sayGoodbye } from './imap-mailbox.ts';
import { MailError } from './mail-error.ts';
import type { MailControl, Namespace } from './streams.ts';

/** @throws {MailError} here and in everything that it does */
export async function openControl(account: MailAccount, options: ConnectOptions): Promise<MailControl> {
  const client = await connect(account, options);
  return {
    namespace: await namespaceOf(client),
    mailboxes: () => listMailboxes(client),
    create: (path) => createMailbox(client, path),
    remove: async (path) => {
      await asking(() => client.mailboxDelete(path));
      // A name that is subscribed to and not there is shown by some programs.
      await asking(() => client.mailboxUnsubscribe(path));
    },
    [Symbol.asyncDispose]: () => sayGoodbye(client),
  };
}

/** Without NAMESPACE (RFC 2342) the delimiter is the one that the mailboxes are listed with. */
async function namespaceOf(client: ImapFlow): Promise<Namespace> {
  const personal = client.namespace as { prefix?: unknown; delimiter?: unknown } | undefined;
  const prefix = typeof personal?.prefix === 'string' ? personal.prefix : '';
  if (typeof personal?.delimiter === 'string' && personal.delimiter !== '')
    return { prefix, delimiter: personal.delimiter };
  const delimiter = (await listMailboxes(client)).find((mailbox) => mailbox.delimiter !== '')?.delimiter ?? '';
  return { prefix, delimiter };
}

async function createMailbox(client: ImapFlow, path: string): Promise<boolean> {
  try {
    return (await asking(() => client.mailboxCreate(path))).created;
  } catch (error) {
    // Exchange says "already exists" without the code ALREADYEXISTS, so look before giving up.
    if (!(error instanceof MailError) || error.fault !== 'refused') throw error;
    const exists = (await listMailboxes(client)).some((mailbox) => mailbox.path === path);
    if (!exists) throw error;
    await asking(() => client.mailboxSubscribe(path));
    return false;
  }
}
