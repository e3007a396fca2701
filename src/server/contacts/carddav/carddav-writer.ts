import type { Contact } from '../../../contract/contact.ts';
import { ContactStoreError, type ContactWriter, type ExistingContact, type WriteResult } from '../contact-store.ts';
import type { Dav } from './dav.ts';
import { derivedUid } from '../matching.ts';
import { readCard } from '../vcard/read-vcard.ts';
import { composeVcard, writeVcard } from '../vcard/vcard-writer.ts';

/** Cards that are put at the same time. */
const PUTS_AT_ONCE = 4;

/** Writes into the account's first address book. A card is there whole or not at all, so nothing is ever left to complete. */
export function cardDavWriter(dav: Dav): ContactWriter {
  let books: readonly URL[] | undefined;
  const look = async (signal: AbortSignal) => (books ??= await dav.books(signal));
  return {
    batchSize: PUTS_AT_ONCE,
    async *existing(signal) {
      for (const book of await look(signal)) {
        for await (const { url, text } of dav.fetchCards(book, await dav.cards(book, signal), signal)) {
          const read = text === null ? null : readCard(text);
          if (read?.kind === 'contact') yield existingOf(url, read.contact);
        }
      }
    },
    async write(contacts, signal) {
      const [book] = await look(signal);
      if (book === undefined) throw new ContactStoreError('unexpected', 'the account has no address book');
      return Promise.all(contacts.map((contact) => put(dav, book, contact, signal)));
    },
    complete: async () => [],
  };
}

function existingOf(url: URL, contact: Contact): ExistingContact {
  const { formatted, given, family } = contact.name;
  return {
    id: url.href,
    uid: contact.uid,
    names: [formatted, `${given} ${family}`],
    emails: contact.emails.map(({ value }) => value),
    phones: contact.phones.map(({ value }) => value),
  };
}

/** The source's own card first; the plainest one when that is refused; then without its photo. */
async function put(dav: Dav, book: URL, contact: Contact, signal: AbortSignal): Promise<WriteResult> {
  const { photo, ...plain } = contact;
  const attempts: { card: string; notes: string[] }[] = [
    { card: writeVcard(contact, '3.0'), notes: [] },
    { card: composeVcard(contact, '3.0'), notes: ['details outside the common fields were not taken'] },
  ];
  if (photo !== undefined) attempts.push({ card: composeVcard(plain, '3.0'), notes: ['the photo was not taken'] });

  const url = new URL(`${derivedUid(contact.uid)}.vcf`, book.pathname.endsWith('/') ? book : `${book.href}/`);
  let refusal = 0;
  for (const { card, notes } of attempts) {
    const status = await dav.create(url, card, signal);
    // 412: it is there from a try that we took for lost.
    if ((status >= 200 && status < 300) || status === 412) return { outcome: 'written', notes };
    if (status === 507) throw new ContactStoreError('unavailable', `${url.host} has no room left`, { status });
    refusal = status;
  }
  return { outcome: 'skipped', reason: `The destination refused this contact (${refusal}).` };
}
