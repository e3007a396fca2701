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

/** The contacts of an archive; `files` and `entries` each read them again. */
export type ContactFiles = {
  readonly count: number;
  readonly files: () => AsyncIterable<Pick<PartFileContent, 'path' | 'content'>> | readonly never[];
  readonly entries: () => AsyncIterable<ContactEntry>;
  /** Lines for the archive's README. */
  readonly about: readonly string[];
};

const FOLDER = 'contacts';
const UNREADABLE = 'unreadable';

/** The contacts that a reader has staged; they can be read repeatedly. */
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

const FORMATS: Record<Exclude<ContactsFormat, 'pst'>, Written> = {
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

/** Lines for contacts in the same file as the mail, and for those in a file of their own. */
const AMONG_MAIL = ['               Your contacts are in the same file, in the folder Contacts.'];
const ALONE = [
  'contacts/      Your contacts as an Outlook data file. Outlook for Windows: File > Open &',
  '               Export > Open Outlook Data File.',
];

type File = Pick<PartFileContent, 'path' | 'content'>;

export async function contactFiles(
  format: ContactsFormat,
  staged: ContactsToWrite,
  source: Scratch,
  mail: MailFormat,
): Promise<ContactFiles> {
  const { paths, files, about } = writtenAs(format, staged, source, mail);
  const unreadable = await staged.countCards('unreadable');
  return {
    count: await staged.count(),
    async *files() {
      yield* files();
      for (let number = 1; number <= unreadable; number += 1)
        yield {
          path: `${UNREADABLE}/contact-${String(number).padStart(4, '0')}.vcf`,
          content: () => octets(one(() => staged.card('unreadable', number))),
        };
    },
    about: [...about, ...aboutUnreadable(unreadable)],
    entries: () => entriesOf(() => staged.contacts(), paths),
  };
}

function writtenAs(
  format: ContactsFormat,
  staged: ContactsToWrite,
  source: Scratch,
  mail: MailFormat,
): {
  /** Known once the mail is written. */
  readonly paths: () => readonly string[];
  readonly files: () => AsyncIterable<File> | readonly never[];
  readonly about: readonly string[];
} {
  if (format === 'pst') {
    const { contactsPath } = mail;
    if (contactsPath !== undefined) return { paths: () => [contactsPath()], files: () => [], about: AMONG_MAIL };
    const files = () => contactsPst(source, () => staged.contacts());
    return { paths: () => [`${FOLDER}/contacts.pst`], files, about: ALONE };
  }
  const { files, about } = FORMATS[format];
  return {
    paths: () => Object.keys(files).map((name) => `${FOLDER}/${name}`),
    async *files() {
      for (const [name, write] of Object.entries(files))
        yield { path: `${FOLDER}/${name}`, content: () => octets(write(staged)) };
    },
    about,
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

async function* entriesOf(
  contacts: () => AsyncIterable<Contact>,
  paths: () => readonly string[],
): AsyncGenerator<ContactEntry> {
  for (const path of paths()) {
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
