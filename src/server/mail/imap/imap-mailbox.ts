import type { FetchMessageObject, ImapFlow, ListResponse } from 'imapflow';
import { MailError, mailErrorOf } from './mail-error.ts';
import type { ListedMessage, Mailbox, Message } from './message.ts';

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

/** The mailboxes that can be opened, each once: some servers list one twice. */
export async function listMailboxes(client: ImapFlow): Promise<Mailbox[]> {
  const listed = await boundedListing(client);
  const mailboxes = new Map<string, Mailbox>();
  for (const entry of listed) {
    if (entry.flags.has('\\Noselect') || entry.flags.has('\\NonExistent')) continue;
    if (!mailboxes.has(entry.path)) mailboxes.set(entry.path, mailboxOf(entry));
  }
  return [...mailboxes.values()];
}

/** No account has so many; the list is held in memory, and its server may be a stranger's. */
export const MAILBOXES_AT_MOST = 20_000;
const LISTING_OCTETS = 4 * 1024 * 1024;
const LISTING_LOOKED_AT_MS = 20;

const tooMany = () => new MailError('refused', `The mail server lists more than ${MAILBOXES_AT_MOST} mailboxes.`);

/** @throws {MailError} `refused` when the server lists more than any account has, before that takes the memory. */
async function boundedListing(client: ImapFlow): Promise<ListResponse[]> {
  const before = client.stats().received;
  let stopped = false;
  const timer = setInterval(() => {
    if (client.stats().received - before < LISTING_OCTETS) return;
    stopped = true;
    client.close();
  }, LISTING_LOOKED_AT_MS);
  try {
    const listed = await asking(() => client.list());
    if (listed.length > MAILBOXES_AT_MOST) throw tooMany();
    return listed;
  } catch (error) {
    throw stopped ? tooMany() : error;
  } finally {
    clearInterval(timer);
  }
}

/** A name in some language is a good enough sign for a mailbox that messages are put into, not for one that is a view. */
const VIEWS = new Set(['\\All', '\\Flagged', '\\Important']);

function mailboxOf(entry: ListResponse): Mailbox {
  const { specialUse } = entry;
  const known = specialUse !== undefined && (entry.specialUseSource !== 'name' || !VIEWS.has(specialUse));
  return {
    path: entry.path,
    delimiter: entry.delimiter ?? '',
    subscribed: entry.subscribed,
    ...(known ? { specialUse } : {}),
  };
}

/** Lists the open mailbox from a UID on. */
export async function* listMessages(client: ImapFlow, fromUid = 1): AsyncIterable<ListedMessage> {
  if (client.mailbox === false || client.mailbox.exists === 0) return;
  const query = { uid: true, flags: true, internalDate: true, size: true } as const;
  for await (const found of fetched(client, `${fromUid}:*`, query)) {
    // `n:*` also names the last message when n is beyond it (RFC 9051 §9, seq-range).
    if (found.uid >= fromUid) yield listedOf(found);
  }
}

/** Fetches whole messages of the open mailbox. An answer without a body is passed over: the message has gone, or was not given. */
export async function* fetchMessages(client: ImapFlow, uids: readonly number[]): AsyncIterable<Message> {
  if (uids.length === 0) return;
  const query = { uid: true, flags: true, internalDate: true, size: true, source: true } as const;
  for await (const found of fetched(client, uidSet(uids), query)) {
    if (found.source === undefined || (found.source.length === 0 && (found.size ?? 0) > 0)) continue;
    yield { ...listedOf(found), bytes: found.source };
  }
}

async function* fetched(
  client: ImapFlow,
  range: string,
  query: Parameters<ImapFlow['fetch']>[1],
): AsyncIterable<FetchMessageObject> {
  const answers = client.fetch(range, query, { uid: true });
  try {
    for (;;) {
      const step = await asking(() => answers.next());
      if (step.done === true) return;
      yield step.value;
    }
  } finally {
    // A reader that stops early must let go of the answer under way, or the connection stands still for good.
    await answers.return(undefined);
  }
}

function listedOf(found: FetchMessageObject): ListedMessage {
  const flags = [...(found.flags ?? [])].filter((flag) => flag.toLowerCase() !== '\\recent');
  const { internalDate } = found;
  return {
    uid: found.uid,
    size: found.size ?? found.source?.length ?? 0,
    flags,
    internalDate: internalDate instanceof Date ? internalDate : new Date(internalDate ?? Number.NaN),
  };
}

/** `1:3,7` for 1, 2, 3, 7 (RFC 9051 §9, sequence-set). */
export function uidSet(uids: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const uid of uids.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && uid <= last[1] + 1) last[1] = uid;
    else ranges.push([uid, uid]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}:${to}`)).join(',');
}

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
