import type { ImapFlow } from 'imapflow';
import { connect, MESSAGE_SIZE_LIMIT, type ConnectOptions, type MailAccount } from './connection.ts';
import { asking, fetchMessages, listMailboxes, listMessages, messageIdsIn, sayGoodbye } from './imap-mailbox.ts';
import { MailError } from './mail-error.ts';
import type { Namespace } from '../copy/mapping.ts';
import type { Appended, MailWriter, NewMessage, RefusalReason, SelectedMailbox } from './writer.ts';

/**
 * Writes an account over one IMAP connection. One thing at a time.
 * @throws {MailError} here and in everything that the writer does.
 */
export async function openWriter(account: MailAccount, options: ConnectOptions): Promise<MailWriter> {
  const client = await connect(account, options);
  let selected: SelectedMailbox | undefined;
  const select = async (path: string) => {
    selected = undefined;
    selected = await selectMailbox(client, path);
    return selected;
  };
  const ensureSelected = async (path: string) => (selected?.path === path ? selected : select(path));
  return {
    namespace: await namespaceOf(client),
    mailboxes: () => listMailboxes(client),
    create: (path) => createMailbox(client, path),
    select,
    append: async (path, message) => {
      const mailbox = await ensureSelected(path);
      return append(client, path, { ...message, flags: mailbox.keeps(message.flags) });
    },
    addFlags: async (path, uid, flags) => {
      const mailbox = await ensureSelected(path);
      await asking(() => client.messageFlagsAdd(`${uid}`, mailbox.keeps(flags), { uid: true }));
    },
    async *list(path, fromUid) {
      // A listing must see what other connections have appended since this one selected (Courier shows it only then).
      await select(path);
      yield* listMessages(client, fromUid);
    },
    async *fetch(path, uids) {
      await ensureSelected(path);
      yield* fetchMessages(client, uids);
    },
    messageIds: async (path, since) => {
      await select(path);
      return messageIdsIn(client, since);
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

async function selectMailbox(client: ImapFlow, path: string): Promise<SelectedMailbox> {
  const opened = await asking(() => client.mailboxOpen(path));
  if (opened.uidValidity === undefined || opened.uidValidity === 0n)
    throw new MailError('refused', 'The mail server gives no UIDVALIDITY.');
  const permanent = opened.permanentFlags;
  const listed = new Set([...(permanent ?? [])].map((flag) => flag.toLowerCase()));
  const anything = permanent === undefined || listed.has('\\*');
  return {
    path,
    uidValidity: opened.uidValidity,
    // Some servers leave UIDNEXT out (NetEase): then everything in the mailbox may be what an append stored.
    uidNext: opened.uidNext ?? 1,
    keeps: (flags) =>
      flags.filter((flag) => {
        const name = flag.toLowerCase();
        if (name === '\\recent') return false;
        // `\*` allows new keywords; system flags must be listed themselves (RFC 9051 §7.1, PERMANENTFLAGS).
        return permanent === undefined || listed.has(name) || (anything && !name.startsWith('\\'));
      }),
  };
}

async function createMailbox(client: ImapFlow, path: string): Promise<void> {
  try {
    await asking(() => client.mailboxCreate(path));
  } catch (error) {
    // Exchange says "already exists" without the code ALREADYEXISTS, so look before giving up.
    if (!(error instanceof MailError) || error.fault !== 'refused') throw error;
    const exists = (await listMailboxes(client)).some((mailbox) => mailbox.path === path);
    if (!exists) throw error;
    await asking(() => client.mailboxSubscribe(path));
  }
}

async function append(client: ImapFlow, path: string, message: NewMessage): Promise<Appended> {
  if (message.bytes.length > MESSAGE_SIZE_LIMIT) return { kind: 'refused', reason: 'too large' };
  const limit = client.mailbox === false ? undefined : client.mailbox.appendlimit;
  if (limit !== undefined && message.bytes.length > limit) return { kind: 'refused', reason: 'too large' };
  try {
    const answer = await asking(() => client.append(path, message.bytes, [...message.flags], message.internalDate));
    if (answer === false || answer === undefined) throw new MailError('lost', 'The connection was not ready.');
    // Without a UIDVALIDITY the UID is imapflow's own guess, from a count that other connections move as well.
    if (answer.uid === undefined || answer.uidValidity === undefined) return { kind: 'stored' };
    return { kind: 'stored', uid: answer.uid, uidValidity: answer.uidValidity };
  } catch (error) {
    if (!(error instanceof MailError) || error.fault !== 'refused') throw error;
    return { kind: 'refused', reason: reasonOf(error) };
  }
}

function reasonOf(error: MailError): RefusalReason {
  const { responseText } = error.cause as { responseText?: unknown };
  const text = typeof responseText === 'string' ? responseText : '';
  if (error.responseCode === 'APPENDLIMIT' || error.responseCode === 'TOOBIG') return 'too large';
  if (error.responseCode === 'TRYCREATE' || error.responseCode === 'NONEXISTENT') throw error;
  if (error.responseCode === undefined) {
    if (/maximum (?:message )?size|message (?:is )?too (?:large|big)|size exceeded/i.test(text)) return 'too large';
    if (/virus/i.test(text)) return 'virus';
  }
  return 'not accepted';
}
