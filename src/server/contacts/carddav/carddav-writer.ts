import { setImmediate as turn } from 'node:timers/promises';
import {
  changedAllTheTime,
  ContactStoreError,
  blamesOne,
  isBrokenOff,
  isOfOne,
  type ContactGroup,
  type ContactWriter,
  type ExistingContact,
  type FillResult,
  type WriteResult,
} from '../contact-store.ts';
import type { Contact } from '../contact.ts';
import { fillingFor } from '../fill.ts';
import { derivedUid } from '../matching.ts';
import { PHOTO_NOT_TAKEN } from '../photo-note.ts';
import { refusedNote, stayNote, strangersNote, unsafeNote } from '../remarks.ts';
import { readCards } from '../vcard/read-vcard.ts';
import { addressesOf, composeVcard, fillGroupVcard, fillVcard, groupVcard, writeVcard } from '../vcard/vcard-writer.ts';
import type { Dav } from './dav.ts';

/** Concurrent PUT requests. */
const PUTS_AT_ONCE = 4;
/** How often a card is read and filled again when somebody else changes it at the same time. */
const FILL_TRIES = 4;

/** Writes whole cards to the account's first address book. */
export function cardDavWriter(dav: Dav): ContactWriter {
  let books: readonly URL[] | undefined;
  const look = async (signal: AbortSignal) => (books ??= (await dav.books(signal)).map(({ url }) => url));
  const first = async (signal: AbortSignal) => {
    const [book] = await look(signal);
    if (book === undefined) throw new ContactStoreError('unexpected', 'the account has no address book');
    return book;
  };
  return {
    batchSize: PUTS_AT_ONCE,
    notesOn: () => [],
    async *existing(signal) {
      for (const book of await look(signal)) {
        const cards = (await dav.cards(book, signal)).map(({ url }) => url);
        for await (const { url, text } of dav.fetchCards(book, cards, signal)) {
          let at = 0;
          for (const { read } of text === null ? [] : readCards(text)) {
            if (read.kind === 'contact') yield existingOf(placeOf(url, at), read.contact);
            at += 1;
          }
          await turn();
        }
      }
    },
    async write(contacts, signal) {
      const book = await first(signal);
      return Promise.all(contacts.map((contact) => put(dav, book, contact, signal)));
    },
    async fill({ id }, contact, signal) {
      const url = new URL(id);
      for (let attempt = 1; attempt <= FILL_TRIES; attempt += 1) {
        const result = await fill(dav, url, contact, signal);
        // A server that is out of order says of every card that it is gone, and would get it a second time.
        if (result !== 'conflict' && result.outcome === 'gone')
          await dav.requireBook(bookOf(url, await look(signal)), signal);
        if (result !== 'conflict') return result;
      }
      throw changedAllTheTime(url.host);
    },
    group: async (group, signal) => putGroup(dav, await first(signal), group, signal),
  };
}

function existingOf(url: URL, contact: Contact): ExistingContact {
  const { photo, ...plain } = contact;
  return {
    id: url.href,
    uid: contact.uid,
    contact: { ...plain, vcard: '' },
    // Some servers turn a photo into a link.
    hasPhoto: photo !== undefined || contact.more.some(({ label }) => label === 'photo'),
  };
}

/** A card's place among several in one resource, as a fragment, which no request contains. */
function placeOf(url: URL, at: number): URL {
  return at === 0 ? url : new URL(`#${at}`, url);
}

/** The address book of a card, which a server may list elsewhere. */
function bookOf(card: URL, books: readonly URL[]): URL {
  return books.find(({ pathname }) => card.pathname.startsWith(pathname)) ?? new URL('.', card);
}

function addressOf(book: URL, uid: string): URL {
  return new URL(`${derivedUid(uid)}.vcf`, book.pathname.endsWith('/') ? book : `${book.href}/`);
}

/** Tries the source's own card, then one composed of plain fields, then that without its photo. */
async function put(dav: Dav, book: URL, contact: Contact, signal: AbortSignal): Promise<WriteResult> {
  const { photo, ...plain } = contact;
  const attempts: { card: string; notes: string[] }[] = [
    { card: writeVcard(contact, '3.0'), notes: [] },
    { card: composeVcard(contact, '3.0'), notes: ['Details outside the common fields were put into the notes there.'] },
  ];
  if (photo !== undefined) attempts.push({ card: composeVcard(plain, '3.0'), notes: [PHOTO_NOT_TAKEN] });

  const url = addressOf(book, contact.uid);
  let refusal = 0;
  let failure: ContactStoreError | undefined;
  /** The notes of the first attempt without an answer, which may have stored its card. */
  let unclear: readonly string[] | undefined;
  for (const { card, notes } of attempts) {
    const result = await create(dav, url, card, signal);
    if (typeof result !== 'number') {
      if (isBrokenOff(result)) unclear ??= notes;
      failure = result;
    }
    const status = typeof result === 'number' ? result : (result.status ?? 0);
    if (status >= 200 && status < 300) return written(notes);
    // An earlier attempt that seemed lost has stored it.
    if (status === 412) return written(unclear ?? notes);
    refusal = status;
  }
  if (failure !== undefined) throw failure;
  // A server that is out of order refuses every card.
  await dav.requireBook(book, signal);
  return { outcome: 'skipped', reason: `Your new address book refused this contact (${refusal}).` };
}

/**
 * Once more where the connection broke each time.
 * @returns the status, or what the server fails with at this card
 * @throws what is no fault of the card, such as a server that is gone
 */
async function create(dav: Dav, url: URL, card: string, signal: AbortSignal): Promise<number | ContactStoreError> {
  for (let isAgain = false; ; isAgain = true)
    try {
      return await dav.create(url, card, signal);
    } catch (error) {
      if (!(error instanceof ContactStoreError) || !failsAtContent(error)) throw error;
      // A server that is gone does not answer this either.
      if (isBrokenOff(error)) await dav.read(url, signal).catch(unlessOfOne);
      if (isAgain || !isBrokenOff(error)) return error;
    }
}

/** Some servers fail, or break the connection, at what they can't read or is too large; a lock is on any card. */
function failsAtContent(error: ContactStoreError): boolean {
  return isBrokenOff(error) || (blamesOne(error) && (error.status ?? 0) >= 500);
}

function written(notes: readonly string[]): WriteResult {
  return { outcome: 'written', notes, stays: notes.includes(PHOTO_NOT_TAKEN) ? ['photo'] : [] };
}

/** A card is replaced only if nobody has changed it since it was read (`If-Match`). */
async function fill(dav: Dav, url: URL, contact: Contact, signal: AbortSignal): Promise<FillResult | 'conflict'> {
  const stored = await dav.read(url, signal);
  const cards = stored === null ? [] : [...readCards(stored.text)];
  const read = cards[Number(url.hash.slice(1))]?.read;
  if (stored === null || read?.kind !== 'contact') return { outcome: 'gone' };
  const { add, added, stays } = fillingFor(existingOf(url, read.contact), contact);
  const notes = stayNote(stays);
  if (added.length === 0) return { outcome: 'whole', stays, notes };
  const unsafe = { outcome: 'whole', stays: [...stays, ...added], notes: [...notes, unsafeNote(added)] } as const;
  // Of several cards in one resource, the others would be gone.
  if (stored.etag === '' || cards.length > 1) return unsafe;
  const status = await dav.replace(url, fillVcard(stored.text, add), stored.etag, signal);
  // Most servers never take a weak one (RFC 9110 §13.1.1).
  if (status === 412 && stored.etag.startsWith('W/')) return unsafe;
  if (status === 412) return 'conflict';
  if (status >= 200 && status < 300) return { outcome: 'filled', stays, notes };
  return {
    outcome: 'whole',
    stays: [...stays, ...added],
    notes: [refusedNote(status)],
  };
}

/** As a card of its own, in addition to the categories that its members name; one that is there gets new members. */
async function putGroup(dav: Dav, book: URL, group: ContactGroup, signal: AbortSignal): Promise<string[]> {
  const url = addressOf(book, group.uid);
  const status = (await dav.create(url, groupVcard(group), signal).catch(unlessOfOne)) ?? 0;
  const isThere = (status >= 200 && status < 300) || status === 412 || status === 409;
  const addresses = addressesOf(group.strangers);
  // It may be these that it does not know.
  if (!isThere && addresses.length > 0)
    return [...strangersNote(addresses), ...(await putGroup(dav, book, { ...group, strangers: [] }, signal))];
  const isFilled = status !== 412 || (await addMembers(dav, url, [...group.members, ...addresses], signal));
  const leavesOut = !isFilled && addresses.length > 0;
  if (leavesOut) await addMembers(dav, url, group.members, signal);
  return [
    ...(leavesOut ? strangersNote(addresses) : []),
    ...(isThere || group.notes.trim() === '' ? [] : ['The notes of this group were not accepted there.']),
    ...(isThere || group.members.length > 0 ? [] : ['This group has no contacts in it, and was not accepted there.']),
  ];
}

/** @returns whether it has them now; where that is refused they are in it by their categories only */
async function addMembers(dav: Dav, url: URL, members: readonly string[], signal: AbortSignal): Promise<boolean> {
  for (let attempt = 1; attempt <= FILL_TRIES; attempt += 1) {
    const stored = await dav.read(url, signal).catch(unlessOfOne);
    if (stored === null) return false;
    const filled = fillGroupVcard(stored.text, members);
    if (filled === null) return true;
    if (stored.etag === '') return false;
    const status = (await dav.replace(url, filled, stored.etag, signal).catch(unlessOfOne)) ?? 0;
    if (status !== 412) return status >= 200 && status < 300;
  }
  return false;
}

function unlessOfOne(error: unknown): null {
  if (error instanceof ContactStoreError && (error.fault === 'refused' || isOfOne(error))) return null;
  throw error;
}
