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
const UNREADABLE = 'unreadable';

/** The contacts that a reader has staged; all of it can be read again. */
export type ContactsToWrite = {
  readonly count: () => Promise<number>;
  readonly contacts: () => AsyncIterable<Contact>;
  readonly countCards: (kind: 'group' | 'unreadable') => Promise<number>;
  readonly card: (kind: 'group' | 'unreadable', number: number) => Promise<string>;
};

type Written = {
  readonly files: Readonly<Record<string, (staged: ContactsToWrite) => AsyncIterable<string>>>;
  readonly about: readonly string[];
};

const FORMATS: Record<ContactsFileFormat, Written> = {
  csv: {
    files: {
      'google.csv': ({ contacts }) => contactsCsv(contacts(), 'google'),
      'outlook.csv': ({ contacts }) => contactsCsv(contacts(), 'outlook'),
      'outlook-com.csv': ({ contacts }) => contactsCsv(contacts(), 'outlook-com'),
    },
    about: [
      'contacts/      Your contacts as tables. Each file holds all of them, so import one.',
      '               Import it as it is: do not open and save it in Excel first, because',
      '               Excel changes phone numbers, dates and letters with accents.',
      '  google.csv        Gmail. Go to contacts.google.com. Click Import, then Select',
      '                    file. Choose google.csv and click Import.',
      '  outlook-com.csv   Outlook.com and the new Outlook. Click the People icon. Click',
      '                    Manage contacts, then Import contacts. Choose outlook-com.csv',
      '                    and click Import.',
      '  outlook.csv       Classic Outlook for Windows. Click File, Open & Export, then',
      '                    Import/Export. Choose "Import from another program or file",',
      '                    then "Comma Separated Values". Choose outlook.csv, and then the',
      '                    folder Contacts.',
      '               What such a table has no column for stands in the notes. It has no',
      '               place for photos: choose vcf to have them.',
    ],
  },
  vcf: {
    files: { 'contacts.vcf': contactsAndGroups },
    about: [
      'contacts/      Your contacts in one file, contacts.vcf (vCard 3.0), with photos and',
      '               groups. Import it as it is.',
      '               Gmail: contacts.google.com, Import, Select file.',
      '               iPhone, iPad, Mac: open the file, then choose Add All Contacts.',
      '               Android: Contacts app, Settings, Import.',
      '               Thunderbird: Tools, Import, Import Address Books, vCard file.',
    ],
  },
};

async function* contactsAndGroups(staged: ContactsToWrite): AsyncIterable<string> {
  yield* contactsVcf(staged.contacts());
  const groups = await staged.countCards('group');
  for (let number = 1; number <= groups; number += 1) yield staged.card('group', number);
}

export async function contactFiles(format: ContactsFileFormat, staged: ContactsToWrite): Promise<ContactFiles> {
  const { files, about } = FORMATS[format];
  const written = Object.entries(files).map(([name, write]) => ({
    path: `${FOLDER}/${name}`,
    read: () => octets(write(staged)),
  }));
  const unreadable = await staged.countCards('unreadable');
  const raw = Array.from({ length: unreadable }, (_, at) => ({
    path: `${UNREADABLE}/contact-${String(at + 1).padStart(4, '0')}.vcf`,
    read: () => octets(one(() => staged.card('unreadable', at + 1))),
  }));
  return {
    count: await staged.count(),
    files: [...written, ...raw],
    about: [...about, ...aboutUnreadable(unreadable)],
    async *entries() {
      for (const { path } of written) {
        let index = 0;
        for await (const contact of staged.contacts()) {
          index += 1;
          yield { path, index, uid: contact.uid, name: displayNameOf(contact) };
        }
      }
    },
  };
}

function aboutUnreadable(count: number): string[] {
  if (count === 0) return [];
  return [
    '',
    `${UNREADABLE}/    ${count === 1 ? 'One contact card that is' : `${count.toLocaleString('en-US')} contact cards that are`} damaged, just as we found ${count === 1 ? 'it' : 'them'}. ${count === 1 ? 'It is' : 'They are'}`,
    '               not in the files above. Open with a text editor to see what is there.',
  ];
}

async function* one(read: () => Promise<string>): AsyncIterable<string> {
  yield await read();
}

async function* octets(texts: AsyncIterable<string>): AsyncGenerator<Buffer> {
  for await (const text of texts) yield Buffer.from(text);
}
