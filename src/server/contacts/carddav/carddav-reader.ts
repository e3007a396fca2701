import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import type { Skipped } from '../../../contract/calls/status.ts';
import {
  CONTACTS_AT_MOST,
  CONTACTS_MAILBOX,
  ContactStoreError,
  type ContactGroup,
  type ContactReader,
  type Reading,
  type Survey,
} from '../contact-store.ts';
import type { Contact } from '../contact.ts';
import { textKey } from '../keys.ts';
import { derivedUid } from '../matching.ts';
import { splitCards } from '../vcard/cards-in-text.ts';
import {
  displayNameOf,
  fileKey,
  memberKey,
  photoLinkOf,
  readCards,
  type GroupCard,
  type ReadCard,
} from '../vcard/read-vcard.ts';
import type { CardFault } from '../vcard/vcard-lines.ts';
import { decoded, type Book, type Dav, type ListedCard, type StoredCard } from './dav.ts';

const REASONS: Record<CardFault, string> = {
  'not a vCard': 'We cannot read this contact card.',
  'cut off': 'The end of this contact card is missing.',
  'too large': 'This contact card is too large.',
  empty: 'This contact card is empty.',
};

/** How often a book is listed again after it was read, to pick up changes made in the meantime. */
const LOOKS_AGAIN = 3;

type ListedBook = Book & { readonly cards: readonly ListedCard[] };
type Known = {
  readonly books: readonly ListedBook[];
  readonly survey: Survey;
  readonly groups: readonly ContactGroup[];
  /** The names of the groups and, if there are several, the books of each contact, by its UID. */
  readonly joined: ReadonlyMap<string, ReadonlySet<string>>;
};

/**
 * Reads all address books of an account: twice, as groups may follow their members. Only one batch is in memory.
 * @param account what tells its contacts from those of others whose server counts alike
 */
export function cardDavReader(dav: Dav, account: string): ContactReader {
  let known: Known | undefined;
  const look = async (signal: AbortSignal) => (known ??= await lookThrough(dav, account, signal));
  return {
    survey: async (signal) => (await look(signal)).survey,
    async *contacts(signal) {
      const { books, groups, joined } = await look(signal);
      const reader = new Pass(dav, account, joined, signal);
      for (const { url, cards } of books) yield* reader.read(url, cards);
      for (let round = 1; round <= LOOKS_AGAIN; round += 1) {
        const before = reader.count;
        for (const { url } of books) yield* reader.read(url, reader.changed(await dav.cards(url, signal)));
        if (reader.count === before) break;
      }
      for (const group of groups) yield { kind: 'group', group };
    },
  };
}

async function lookThrough(dav: Dav, account: string, signal: AbortSignal): Promise<Known> {
  const books: ListedBook[] = [];
  // In the same order in every run: of two cards that share a UID, the first one keeps it.
  const found = (await dav.books(signal)).toSorted((a, b) => (a.url.href < b.url.href ? -1 : 1));
  for (const book of found) books.push({ ...book, cards: await dav.cards(book.url, signal) });

  const given = new UidGiver(account);
  const uids = new Set<string>();
  const byMember = new Map<string, string>();
  const joined = new Map<string, Set<string>>();
  const groupCards = new Map<string, GroupCard>();
  let faults = 0;
  const join = (uid: string, group: string) => {
    const groups = joined.get(uid);
    if (groups === undefined) joined.set(uid, new Set([group]));
    else groups.add(group);
  };
  const note = (contact: Contact, { url }: StoredCard, book: string) => {
    const uid = given.uidOf(contact);
    uids.add(uid);
    setFirst(byMember, fileKey(fileNameOf(url)), uid);
    if (contact.uid !== '') setFirst(byMember, memberKey(contact.uid), uid);
    for (const { value } of contact.emails) setFirst(byMember, `mailto:${textKey(value)}`, uid);
    if (books.length > 1 && book !== '') join(uid, book);
  };
  for (const { name, url, cards } of books)
    for await (const card of dav.fetchCards(url, urlsOf(cards), signal))
      for await (const { read } of cardsOf(card)) {
        if (read.kind === 'fault') faults += 1;
        else if (read.kind === 'group') groupCards.set(groupKey(read.group), read.group);
        else note(read.contact, card, name);
        // One resource may hold any number.
        if (uids.size + faults + groupCards.size > CONTACTS_AT_MOST)
          throw new ContactStoreError('too many', `${url.host} has more than ${CONTACTS_AT_MOST} contacts`);
      }
  const groups: ContactGroup[] = [];
  const lists = new Lists(groupCards.values(), byMember);
  for (const card of groupCards.values()) {
    const group = groupOf(card, account, lists);
    for (const member of group.members) join(member, group.name);
    groups.push(group);
    await turn();
  }
  return { books, groups, joined, survey: { total: uids.size + faults, uids } };
}

/** One pass over all books, and what it has read so far. */
class Pass {
  readonly #dav: Dav;
  readonly #joined: Known['joined'];
  readonly #signal: AbortSignal;
  readonly #uids: UidGiver;
  readonly #seen = new Set<string>();
  readonly #etags = new Map<string, string>();
  /** The digests of a resource's cards. */
  readonly #digests = new Map<string, ReadonlySet<string>>();
  /** The UID that a card had when first read, as a card that changes stays the same contact; `''`: two had it. */
  readonly #uidOfCard = new Map<string, string>();
  count = 0;

  constructor(dav: Dav, account: string, joined: Known['joined'], signal: AbortSignal) {
    this.#dav = dav;
    this.#uids = new UidGiver(account);
    this.#joined = joined;
    this.#signal = signal;
  }

  changed(cards: readonly ListedCard[]): ListedCard[] {
    return cards.filter(({ url, etag }) => this.#etags.get(url.href) !== etag);
  }

  async *read(book: URL, cards: readonly ListedCard[]): AsyncIterable<Reading> {
    const again = new Set(cards.filter(({ url }) => this.#etags.has(url.href)).map(({ url }) => url.href));
    for (const { url, etag } of cards) this.#etags.set(url.href, etag);
    for await (const card of this.#dav.fetchCards(book, urlsOf(cards), this.#signal)) {
      const { href } = card.url;
      const before = this.#digests.get(href);
      const digests = new Set<string>();
      this.#digests.set(href, digests);
      let at = 0;
      for await (const { text, read } of cardsOf(card)) {
        const place = `${href} ${at}`;
        at += 1;
        const digest = digestOf(text);
        digests.add(digest);
        if (before?.has(digest) === true) continue;
        if (read.kind === 'fault') yield* this.#skipped(card.url, place, text, read.fault);
        if (read.kind === 'contact') yield* this.#contact(read.contact, place, card, again.has(href));
      }
    }
  }

  *#skipped(url: URL, place: string, raw: string, fault: CardFault): Iterable<Reading> {
    const id = unreadableId(place);
    if (this.#seen.has(id)) return;
    this.#seen.add(id);
    this.count += 1;
    yield { kind: 'skipped', skipped: skippedOf(fault, url), id, ...(raw === '' ? {} : { raw }) };
  }

  /** A card in two books is one contact. */
  async *#contact(contact: Contact, place: string, card: StoredCard, isAgain: boolean): AsyncIterable<Reading> {
    const names = namesOf(contact, place, card);
    const known = isAgain ? names.map((name) => this.#uidOfCard.get(name) ?? '').find((uid) => uid !== '') : undefined;
    const uid = known ?? this.#uids.uidOf(contact);
    for (const name of names) this.#uidOfCard.set(name, (this.#uidOfCard.get(name) ?? uid) === uid ? uid : '');
    if (this.#seen.has(uid) && !isAgain) return;
    this.#seen.add(uid);
    this.count += 1;
    const groups = [...new Set([...contact.groups, ...(this.#joined.get(uid) ?? [])])];
    const id = unreadableId(place);
    yield { kind: 'contact', contact: await this.#withPhoto({ ...contact, uid, groups }), id };
  }

  /** A linked photo is downloaded, as files at the legacy service disappear with it. */
  async #withPhoto(contact: Contact): Promise<Contact> {
    const link = contact.photo === undefined ? photoLinkOf(contact.vcard) : null;
    const photo = link === null ? null : await this.#dav.file(link, this.#signal);
    if (photo === null) return contact;
    const more = contact.more.filter(({ label, value }) => label !== 'photo' || value !== link);
    return { ...contact, photo: { mediaType: photo.mediaType, bytes: Uint8Array.from(photo.bytes) }, more };
  }
}

/**
 * What a card is known by: its UID, as others may come to be before it; and its resource if it is alone there, else its
 * place and name, as cards without UIDs, or with the same one, have nothing else.
 */
function namesOf(contact: Contact, place: string, { url, text }: StoredCard): string[] {
  const [, second] = text === null ? [] : splitCards(text);
  const other = second === undefined ? url.href : `${place}: ${displayNameOf(contact)}`;
  return [...(contact.uid === '' ? [] : [`${url.href} ${contact.uid}`]), other];
}

function unreadableId(place: string): string {
  return derivedUid('unreadable', place);
}

/** Some servers return a different etag and modification time for every card with each listing. */
function digestOf(text: string): string {
  return createHash('sha256')
    .update(text.replaceAll(/^REV[;:].*$/gim, ''))
    .digest('hex');
}

function urlsOf(cards: readonly ListedCard[]): URL[] {
  return cards.map(({ url }) => url);
}

/** Yields to the event loop after each card. */
async function* cardsOf(stored: StoredCard): AsyncIterable<{ readonly text: string; readonly read: ReadCard }> {
  if (stored.text === null) yield { text: '', read: { kind: 'fault', fault: stored.fault } };
  else
    for (const card of readCards(stored.text)) {
      yield card;
      await turn();
    }
}

function setFirst(map: Map<string, string>, key: string, value: string): void {
  if (!map.has(key)) map.set(key, value);
}

function groupKey({ uid, vcard }: GroupCard): string {
  return uid === '' ? vcard : uid;
}

/** How many members of lists within lists are looked at, in all. */
const INNER_MEMBERS_AT_MOST = 1_000_000;

/** Who is in which list; the members of a list within a list are in both. */
class Lists {
  readonly #byMember: ReadonlyMap<string, string>;
  readonly #byUid = new Map<string, GroupCard>();
  #innerLeft = INNER_MEMBERS_AT_MOST;

  constructor(cards: Iterable<GroupCard>, byMember: ReadonlyMap<string, string>) {
    this.#byMember = byMember;
    for (const card of cards) if (card.uid !== '') this.#byUid.set(memberKey(card.uid), card);
  }

  /** The UIDs of its contacts, and the others that it names. */
  membersOf(list: GroupCard): Pick<ContactGroup, 'members' | 'strangers'> {
    const members = new Set<string>();
    const strangers = new Set<string>();
    const lists = new Set([list]);
    for (const { members: named } of lists)
      for (const member of named) {
        const uid = this.#byMember.get(member);
        const inner = this.#byUid.get(member);
        if (uid !== undefined) members.add(uid);
        else if (inner === undefined || !this.#follows(inner)) strangers.add(member);
        else lists.add(inner);
      }
    return { members: [...members], strangers: [...strangers] };
  }

  #follows({ members }: GroupCard): boolean {
    this.#innerLeft -= members.length + 1;
    return this.#innerLeft >= 0;
  }
}

function groupOf(card: GroupCard, account: string, lists: Lists): ContactGroup {
  const { uid, name, notes, vcard } = card;
  return {
    uid: uid === '' ? derivedUid('group', vcard) : keptUid(uid, account),
    name: name === '' ? 'List' : name,
    notes,
    ...lists.membersOf(card),
    vcard,
  };
}

function skippedOf(fault: CardFault, url: URL): Skipped {
  return { mailbox: CONTACTS_MAILBOX, reason: REASONS[fault], subject: fileNameOf(url) };
}

function fileNameOf({ pathname }: URL): string {
  return decoded(pathname.split('/').at(-1) ?? '');
}

/** Destinations, and our table, keep UIDs in fields of limited length, without NUL. */
const UID_LENGTH = 255;
/** A server that counts its cards; the new address book may count its own, and hold somebody else under this number. */
const COUNTED = /^\d{1,9}$/;

function keptUid(uid: string, account: string): string {
  if (COUNTED.test(uid)) return derivedUid(account, uid);
  return uid.length > UID_LENGTH || uid.includes('\0') ? derivedUid(uid) : uid.toWellFormed();
}

/** Gives every contact a unique UID: its own, or one derived from its text if it has none or shares it with another. */
class UidGiver {
  readonly #account: string;
  readonly #texts = new Map<string, string>();

  constructor(account: string) {
    this.#account = account;
  }

  uidOf(contact: Contact): string {
    const text = digestOf(contact.vcard);
    if (contact.uid === '') return derivedUid(text);
    const uid = keptUid(contact.uid, this.#account);
    const first = this.#texts.get(uid);
    if (first === undefined) this.#texts.set(uid, text);
    return first === undefined || first === text ? uid : derivedUid(uid, text);
  }
}
