import type { Contact } from '../../../contract/contact.ts';
import type { ContactsFormat } from '../../../contract/export-format.ts';
import { contactsCsv } from '../../contacts/csv/write-csv.ts';
import { displayNameOf } from '../../contacts/vcard/read-vcard.ts';
import { contactsVcf } from '../../contacts/vcard/vcf.ts';
import type { MailFormat, PartFileContent } from './mail-format.ts';
import { contactsPst, type Scratch } from './pst.format.ts';

/** A contact as the manifest lists it: the `index`th of the file at `path`, counted from 1. */
export type ContactEntry = {
  readonly path: string;
  readonly index: number;
  readonly uid: string;
  readonly name: string;
};

/** The contacts of an archive; `files` and `entries` go through them anew. */
export type ContactFiles = {
  readonly count: number;
  readonly files: () => AsyncIterable<Pick<PartFileContent, 'path' | 'content'>> | readonly never[];
  readonly entries: () => AsyncIterable<ContactEntry>;
  /** Lines for the archive's README. */
  readonly about: readonly string[];
};

const FOLDER = 'contacts';

type Written = {
  readonly files: Readonly<Record<string, (contacts: AsyncIterable<Contact>) => AsyncIterable<string>>>;
  readonly about: readonly string[];
};

const FORMATS: Record<Exclude<ContactsFormat, 'pst'>, Written> = {
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

/** Lines for contacts in the same file as the mail, and for those in a file of their own. */
const AMONG_MAIL = ['               Your contacts are in the same file, in the folder Contacts.'];
const ALONE = [
  'contacts/      Your contacts as an Outlook data file. Outlook for Windows: File > Open &',
  '               Export > Open Outlook Data File.',
];

export function contactFiles(
  format: ContactsFormat,
  count: number,
  contacts: () => AsyncIterable<Contact>,
  source: Scratch,
  mail: MailFormat,
): ContactFiles {
  if (format === 'pst') {
    const { contactsPath } = mail;
    if (contactsPath !== undefined)
      return { count, files: () => [], about: AMONG_MAIL, entries: () => entriesOf(contacts, [contactsPath()]) };
    const paths = [`${FOLDER}/contacts.pst`];
    return {
      count,
      files: () => contactsPst(source, contacts),
      about: ALONE,
      entries: () => entriesOf(contacts, paths),
    };
  }
  const { files, about } = FORMATS[format];
  const paths = Object.keys(files).map((name) => `${FOLDER}/${name}`);
  return {
    count,
    async *files() {
      for (const [name, write] of Object.entries(files))
        yield { path: `${FOLDER}/${name}`, content: () => octets(write(contacts())) };
    },
    about,
    entries: () => entriesOf(contacts, paths),
  };
}

async function* entriesOf(
  contacts: () => AsyncIterable<Contact>,
  paths: readonly string[],
): AsyncGenerator<ContactEntry> {
  for (const path of paths) {
    let index = 0;
    for await (const contact of contacts()) {
      index += 1;
      yield { path, index, uid: contact.uid, name: displayNameOf(contact) };
    }
  }
}

async function* octets(texts: AsyncIterable<string>): AsyncGenerator<Buffer> {
  for await (const text of texts) yield Buffer.from(text);
}
