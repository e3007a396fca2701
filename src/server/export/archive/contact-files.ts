import type { Contact } from '../../../contract/contact.ts';
import type { WRITABLE_CONTACTS_FORMATS } from '../../../contract/export-format.ts';
import { contactsCsv } from '../../contacts/csv/write-csv.ts';
import { displayNameOf } from '../../contacts/vcard/read-vcard.ts';
import { contactsVcf } from '../../contacts/vcard/vcf.ts';

export type ContactsFileFormat = (typeof WRITABLE_CONTACTS_FORMATS)[number];

/** A contact as the manifest lists it: the `index`th of the file at `path`, counted from 1. */
export type ContactEntry = {
  readonly path: string;
  readonly index: number;
  readonly uid: string;
  readonly name: string;
};

/** The contacts of an archive; each `read` and each `entries` goes through them anew. */
export type ContactFiles = {
  readonly count: number;
  readonly files: readonly { readonly path: string; readonly read: () => AsyncIterable<Buffer> }[];
  readonly entries: () => AsyncIterable<ContactEntry>;
  /** Lines for the archive's README. */
  readonly about: readonly string[];
};

const FOLDER = 'contacts';

type Written = {
  readonly files: Readonly<Record<string, (contacts: AsyncIterable<Contact>) => AsyncIterable<string>>>;
  readonly about: readonly string[];
};

const FORMATS: Record<ContactsFileFormat, Written> = {
  csv: {
    files: {
      'google.csv': (contacts) => contactsCsv(contacts, 'google'),
      'outlook.csv': (contacts) => contactsCsv(contacts, 'outlook'),
    },
    about: [
      'contacts/      Your contacts as tables: google.csv for Google Contacts (Import),',
      '               outlook.csv for Outlook (File > Open & Export > Import). Each holds',
      '               all of them; take one. Photos have no place in such a table: choose',
      '               vcf to have them.',
    ],
  },
  vcf: {
    files: { 'contacts.vcf': (contacts) => contactsVcf(contacts) },
    about: [
      'contacts/      Your contacts in one file, contacts.vcf (vCard 3.0), photos included.',
      '               Apple Contacts, Google Contacts, Outlook.com, Thunderbird and phones',
      '               import it as it is.',
    ],
  },
};

export function contactFiles(
  format: ContactsFileFormat,
  count: number,
  contacts: () => AsyncIterable<Contact>,
): ContactFiles {
  const { files, about } = FORMATS[format];
  const written = Object.entries(files).map(([name, write]) => ({
    path: `${FOLDER}/${name}`,
    read: () => octets(write(contacts())),
  }));
  return {
    count,
    files: written,
    about,
    async *entries() {
      for (const { path } of written) {
        let index = 0;
        for await (const contact of contacts()) {
          index += 1;
          yield { path, index, uid: contact.uid, name: displayNameOf(contact) };
        }
      }
    },
  };
}

async function* octets(texts: AsyncIterable<string>): AsyncGenerator<Buffer> {
  for await (const text of texts) yield Buffer.from(text);
}
