import type { ImapFlow } from 'imapflow';
import { connect, type ConnectOptions, type MailAccount } from './connection.ts';
import { limitOctets } from './imapflow-bounds.ts';
import { asking, listMailboxes, personalNamespaces, sayGoodbye } from './imap-mailbox.ts';
import type { MailControl, Namespace } from './streams.ts';

/** From one command to the next, two listings included; a server that says more is left. */
const OCTETS_AN_ANSWER = 8 * 1024 * 1024;

/** How long such an answer may take, however often the server says something of it, in milliseconds. */
export const ANSWER_WITHIN_MS = 3 * 60_000;
/** What is under way when the work is called off has so long, in milliseconds. */
export const SETTLED_WITHIN_MS = 2000;

/**
 * @param options.signal ends what is under way too, soon after
 * @throws {MailError} here and in everything that it does
 */
export async function openControl(account: MailAccount, options: ConnectOptions): Promise<MailControl> {
  const client = await connect(account, options);
  const limit = limitOctets(client, OCTETS_AN_ANSWER, () => {});
  const { signal } = options;
  let settling: NodeJS.Timeout | undefined;
  const callOff = () => {
    settling = setTimeout(() => client.close(), SETTLED_WITHIN_MS);
  };
  if (signal?.aborted === true) callOff();
  signal?.addEventListener('abort', callOff, { once: true });
  const letGo = () => {
    limit[Symbol.dispose]();
    clearTimeout(settling);
    signal?.removeEventListener('abort', callOff);
  };
  const bounded = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
    limit.again();
    const late = setTimeout(() => client.close(), ANSWER_WITHIN_MS);
    try {
      return await ask();
    } finally {
      clearTimeout(late);
    }
  };
  const namespace = await bounded(() => namespaceOf(client)).catch((error: unknown) => {
    letGo();
    client.close();
    throw error;
  });
  return {
    namespace,
    mailboxes: (options) => bounded(() => listMailboxes(client, options)),
    remove: (path) =>
      bounded(async () => {
        await asking(() => client.mailboxDelete(path));
        // A name that is subscribed to and not there is shown by some programs.
        await asking(() => client.mailboxUnsubscribe(path));
      }),
    [Symbol.asyncDispose]: async () => {
      letGo();
      await sayGoodbye(client);
    },
  };
}

/**
 * Of several that one in which new mailboxes are made, without a prefix or beside the inbox; imapflow takes the first.
 * Without NAMESPACE (RFC 2342) the delimiter is the one that the mailboxes are listed with.
 */
async function namespaceOf(client: ImapFlow): Promise<Namespace> {
  const all = personalNamespaces(client);
  const home = all.find(({ prefix }) => prefix === '') ?? all.find(({ prefix }) => /^inbox.?$/i.test(prefix));
  if (home !== undefined) client.namespace = home;
  const personal = client.namespace as { prefix?: unknown; delimiter?: unknown } | undefined;
  const prefix = typeof personal?.prefix === 'string' ? personal.prefix : '';
  if (typeof personal?.delimiter === 'string' && personal.delimiter !== '')
    return { prefix, delimiter: personal.delimiter };
  const delimiter = (await listMailboxes(client)).find((mailbox) => mailbox.delimiter !== '')?.delimiter ?? '';
  return { prefix, delimiter };
}
