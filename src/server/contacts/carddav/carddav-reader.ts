import { createHash } from 'node:crypto';
import type { Contact } from '../../../contract/contact.ts';
import type { Skipped } from '../../../contract/calls/status.ts';
import { CONTACTS_MAILBOX, type ContactReader, type Reading, type Survey } from '../contact-store.ts';
import type { Dav, StoredCard } from './dav.ts';
import { derivedUid } from '../matching.ts';
import { memberKey, readCard, type GroupCard, type ReadCard } from '../vcard/read-vcard.ts';
import type { CardFault } from '../vcard/vcard-lines.ts';

const REASONS: Record<CardFault, string> = {
  'not a vCard': 'This entry is not a contact card that can be read.',
  'cut off': 'This contact card is cut off: its end is missing.',
  'too large': 'This contact card is too large.',
  empty: 'This contact card is empty.',
};

type Book = { readonly url: URL; readonly cards: readonly URL[] };
type Known = {
  readonly books: readonly Book[];
  readonly survey: Survey;
  /** Groups by `memberKey`. */
  readonly groups: ReadonlyMap<string, readonly string[]>;
};

/** Reads all address books of an account. Twice, as groups may come after their members; one batch is in memory at a time. */
export function cardDavReader(dav: Dav): ContactReader {
  let known: Known | undefined;
  const look = async (signal: AbortSignal) => (known ??= await lookThrough(dav, signal));
  return {
    survey: async (signal) => (await look(signal)).survey,
    async *contacts(signal) {
      const { books, groups } = await look(signal);
      const uids = new UidGiver();
      for await (const card of allCards(dav, books, signal)) {
        const reading = readingOf(card, groups, uids);
        if (reading !== null) yield reading;
      }
    },
  };
}

async function lookThrough(dav: Dav, signal: AbortSignal): Promise<Known> {
  const books: Book[] = [];
  for (const url of await dav.books(signal)) books.push({ url, cards: await dav.cards(url, signal) });

  const groups = new Map<string, string[]>();
  const given = new UidGiver();
  const uids = new Set<string>();
  let total = 0;
  for await (const card of allCards(dav, books, signal)) {
    const read = cardOf(card);
    if (read.kind === 'group') addGroup(groups, read.group);
    else total += 1;
    if (read.kind === 'contact') uids.add(given.uidOf(read.contact));
  }
  return { books, groups, survey: { total, uids } };
}

async function* allCards(dav: Dav, books: readonly Book[], signal: AbortSignal): AsyncIterable<StoredCard> {
  for (const { url, cards } of books) yield* dav.fetchCards(url, cards, signal);
}

function cardOf({ text }: StoredCard): ReadCard {
  return text === null ? { kind: 'fault', fault: 'too large' } : readCard(text);
}

function addGroup(groups: Map<string, string[]>, { name, members }: GroupCard): void {
  if (name === '') return;
  for (const member of members) groups.set(member, [...(groups.get(member) ?? []), name]);
}

function readingOf(card: StoredCard, groups: Known['groups'], uids: UidGiver): Reading | null {
  const read = cardOf(card);
  if (read.kind === 'group') return null;
  if (read.kind === 'fault') return { kind: 'skipped', skipped: skippedOf(read.fault, card.url) };
  const { contact } = read;
  const joined = groups.get(memberKey(contact.uid)) ?? [];
  return {
    kind: 'contact',
    contact: { ...contact, uid: uids.uidOf(contact), groups: [...new Set([...contact.groups, ...joined])] },
  };
}

function skippedOf(fault: CardFault, url: URL): Skipped {
  return {
    mailbox: CONTACTS_MAILBOX,
    reason: REASONS[fault],
    subject: decodeURIComponent(url.pathname.split('/').at(-1) ?? ''),
  };
}

/** Gives every contact a UID of its own: its own one, or one made of its text when it has none or shares it with another. */
class UidGiver {
  readonly #texts = new Map<string, string>();

  uidOf(contact: Contact): string {
    const text = createHash('sha256').update(contact.vcard).digest('hex');
    if (contact.uid === '') return derivedUid(text);
    const first = this.#texts.get(contact.uid);
    if (first === undefined) this.#texts.set(contact.uid, text);
    return first === undefined || first === text ? contact.uid : derivedUid(contact.uid, text);
  }
}
