import type { ImapFlow, ListResponse, NamespaceObject } from 'imapflow';
import { limitOctets } from './imapflow-bounds.ts';
import { MailError, mailErrorOf } from './mail-error.ts';
import type { Mailbox, MailboxStatus } from './mailbox.ts';
import { pathListedAs } from './wire/mailbox-name.ts';

/** How long a goodbye may take before the socket is closed. */
const LOGOUT_WITHIN_MS = 2000;

/** Runs something on a connection; whatever the server or the socket does to it comes out as a {@link MailError}. */
export async function asking<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    throw mailErrorOf(error);
  }
}

/** The mailboxes that can be opened, each once: some servers list one twice. Each path is sent as its name was listed. */
export async function listMailboxes(client: ImapFlow, { withStatus = false } = {}): Promise<Mailbox[]> {
  const listed = await listingOf(client, withStatus && client.capabilities.has('LIST-STATUS'));
  const names = Map.groupBy(listed, (entry) => entry.path);
  const mailboxes = new Map<string, Mailbox>();
  for (const entry of listed) {
    if (entry.flags.has('\\Noselect') || entry.flags.has('\\NonExistent')) continue;
    const mailbox = mailboxOf(entry);
    // imapflow keeps it by a name, which may be that of two.
    const status = names.get(entry.path)?.length === 1 ? statusOf(entry) : undefined;
    if (!mailboxes.has(mailbox.path))
      mailboxes.set(mailbox.path, { ...mailbox, ...(status === undefined ? {} : { status }) });
  }
  return [...mailboxes.values()];
}

/** Of all personal namespaces (RFC 2342): imapflow lists one, which has the others in it only where it has no prefix. */
async function listingOf(client: ImapFlow, withStatus: boolean): Promise<ListResponse[]> {
  const { namespace } = client;
  const listed = await boundedListing(client, withStatus);
  try {
    for (const other of namespace?.prefix ? personalNamespaces(client) : []) {
      if (other === namespace) continue;
      client.namespace = other;
      listed.push(...(await boundedListing(client, withStatus)));
      if (listed.length > MAILBOXES_AT_MOST) throw tooMany();
    }
  } finally {
    client.namespace = namespace;
  }
  return listed;
}

/** The account's own namespaces (RFC 2342); none when the server does not say. */
export function personalNamespaces({ namespaces }: ImapFlow): readonly NamespaceObject[] {
  return Array.isArray(namespaces?.personal) ? namespaces.personal : [];
}

/** No account has so many; the list is held in memory, and its server may be a stranger's. */
export const MAILBOXES_AT_MOST = 20_000;
const LISTING_OCTETS = 4 * 1024 * 1024;
/** Asked for with a listing. */
const STATUS_QUERY = { messages: true, uidNext: true, uidValidity: true };

const tooMany = () => new MailError('refused', `The mail server lists more than ${MAILBOXES_AT_MOST} mailboxes.`);

/** @throws {MailError} `refused` when the server lists more than any account has, before that takes the memory. */
async function boundedListing(client: ImapFlow, withStatus: boolean): Promise<ListResponse[]> {
  let stopped = false;
  using _limit = limitOctets(client, withStatus ? 2 * LISTING_OCTETS : LISTING_OCTETS, () => {
    stopped = true;
  });
  try {
    const listed = await asking(() => client.list(withStatus ? { statusQuery: STATUS_QUERY } : {}));
    if (listed.length > MAILBOXES_AT_MOST) throw tooMany();
    return listed;
  } catch (error) {
    throw stopped ? tooMany() : error;
  }
}

/** A name in some language is a good enough sign for a mailbox that messages are put into, not for one that is a view. */
const VIEWS = new Set(['\\All', '\\Flagged', '\\Important']);

function mailboxOf(entry: ListResponse): Mailbox {
  const { specialUse, pathAsListed } = entry;
  const delimiter = entry.delimiter ?? '';
  // imapflow leaves out a delimiter that a name begins with.
  const listed = delimiter !== '' && pathAsListed.startsWith(delimiter) ? pathAsListed.slice(1) : pathAsListed;
  const known = specialUse !== undefined && (entry.specialUseSource !== 'name' || !VIEWS.has(specialUse));
  return {
    path: pathListedAs(listed, entry.path),
    delimiter,
    subscribed: entry.subscribed,
    ...(known ? { specialUse } : {}),
  };
}

function statusOf({ status }: ListResponse): MailboxStatus | undefined {
  const { uidValidity = 0n, uidNext = 0, messages: exists } = status ?? {};
  return uidValidity > 0n && uidNext > 0 && exists !== undefined ? { uidValidity, uidNext, exists } : undefined;
}

/** Signs out and closes; a server that does not answer in time is not waited for. Never throws. */
export async function sayGoodbye(client: ImapFlow): Promise<void> {
  const timer = setTimeout(() => client.close(), LOGOUT_WITHIN_MS);
  try {
    if (client.usable) await client.logout();
  } catch {
    // A connection that is already gone needs no goodbye.
  } finally {
    clearTimeout(timer);
    client.close();
  }
}
