import fc from 'fast-check';
import { BLANK_CONTACT, type Contact } from '../../src/server/contacts/contact.ts';
import type { ContactReader } from '../../src/server/contacts/contact-store.ts';

export const BLANK = BLANK_CONTACT;

export function contact(fields: Partial<Contact>): Contact {
  return { ...BLANK, ...fields };
}

/** A contact with just a name, an address or a number, for matching. */
export function person(
  uid: string,
  formatted: string,
  emails: readonly string[],
  phones: readonly string[] = [],
): Contact {
  return contact({
    uid,
    name: { ...BLANK.name, formatted },
    emails: emails.map((value) => ({ label: '', value })),
    phones: phones.map((value) => ({ label: 'home', value })),
  });
}

/** A line of text as people and attackers write it: the format's special characters, many scripts, trimmed. */
const words = fc
  .string({
    unit: fc.oneof(
      { weight: 3, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }) },
      {
        weight: 2,
        arbitrary: fc.constantFrom('\\', ',', ';', ':', '"', '^', '=', '-', '+', '@', 'ä', '日', '👩‍👧', ' '),
      },
    ),
    maxLength: 90,
  })
  // oxlint-disable-next-line no-control-regex
  .map((text) => text.replaceAll(/[\u0000-\u001F\u007F\u0085\u2028\u2029]/g, '').trim());
const some = words.filter((text) => /[^\s;,]/.test(text));
const lines = fc
  .array(words, { maxLength: 4 })
  .map((all) => all.join('\n').trim())
  .filter((text) => /^$|[^\s;,]/.test(text));
const label = fc.oneof(fc.constantFrom('', 'home', 'work', 'other', 'Ferienhaus', 'a;b,c:"d"'), some);
const labelled = <Value>(value: fc.Arbitrary<Value>) => fc.array(fc.record({ label, value }), { maxLength: 5 });
const day = fc
  .date({ min: new Date('1900-01-01'), max: new Date('2030-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));

const anyDay = fc.oneof(
  day,
  day.map((date) => `-${date.slice(4)}`),
);

const address = fc
  .record({
    poBox: words,
    extended: words,
    street: lines,
    city: words,
    region: words,
    postalCode: words,
    country: words,
  })
  .filter((parts) => Object.values(parts).some((part) => /[^\s;,]/.test(part)));

/** Contacts without a vCard of their own, as a reader returns them. */
export const anyContact: fc.Arbitrary<Contact> = fc
  .record({
    uid: fc.uuid(),
    name: fc.record({ formatted: some, prefix: words, given: words, middle: words, family: words, suffix: words }),
    phonetic: fc.record({ given: words, middle: words, family: words }),
    nickname: words,
    emails: labelled(some.filter((text) => !/^mailto:/i.test(text))),
    phones: labelled(some.filter((text) => !/^tel:/i.test(text))),
    addresses: labelled(address),
    websites: labelled(fc.webUrl()),
    organization: fc.record({ name: some, department: words, title: words }),
    otherOrganizations: fc.array(fc.record({ name: some, department: words, title: words }), { maxLength: 2 }),
    role: words,
    birthday: fc.oneof(fc.constant(''), anyDay),
    dates: fc.uniqueArray(fc.record({ label: fc.constantFrom('anniversary', 'met', 'a;b'), value: anyDay }), {
      maxLength: 2,
      selector: ({ label, value }) => `${label} ${value}`,
    }),
    messengers: fc.uniqueArray(fc.record({ label: fc.constantFrom('', 'skype', 'jabber'), value: some }), {
      maxLength: 3,
      selector: ({ label, value }) => `${label} ${value}`,
    }),
    relations: fc.uniqueArray(
      fc.record({ label: fc.constantFrom('spouse', 'child', 'friend', 'manager'), value: some }),
      {
        maxLength: 3,
        selector: ({ label, value }) => `${label} ${value}`,
      },
    ),
    gender: fc.constantFrom('', 'male', 'female', 'other', 'it is complicated'),
    notes: lines,
    groups: fc.uniqueArray(some, { maxLength: 3 }),
    more: fc.constant([]),
    vcard: fc.constant(''),
    photo: fc.option(
      fc.record({
        mediaType: fc.constantFrom('image/jpeg', 'image/png', 'image/gif'),
        bytes: fc.uint8Array({ minLength: 1, maxLength: 300 }),
      }),
      { nil: undefined },
    ),
  })
  .map(({ photo, ...fields }) => ({ ...fields, ...(photo === undefined ? {} : { photo }) }));

/** A source that holds these contacts. */
export function readerOf(contacts: readonly Contact[]): ContactReader {
  return {
    survey: async () => ({ total: contacts.length, uids: new Set(contacts.map(({ uid }) => uid)) }),
    async *contacts() {
      for (const one of contacts) yield { kind: 'contact', contact: one };
    },
  };
}
