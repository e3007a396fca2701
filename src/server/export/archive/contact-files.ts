import type { ContactsFormat } from '../../../contract/export-format.ts';
import type { Contact } from '../../contacts/contact.ts';
import { contactsCsv, type CsvLayout } from '../../contacts/csv/write-csv.ts';
import { displayNameOf } from '../../contacts/vcard/read-vcard.ts';
import { contactsVcf } from '../../contacts/vcard/vcf.ts';
import type { MailFormat, PartFileContent } from '../staging/mail-format.ts';
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
const LISTS = `${FOLDER}/lists.vcf`;
const UNREADABLE = 'unreadable';

/** The contacts that a reader has staged; they can be read repeatedly. */
export type ContactsToWrite = {
  readonly count: () => Promise<number>;
  readonly contacts: () => AsyncIterable<Contact>;
  readonly countCards: (kind: 'group' | 'unreadable') => Promise<number>;
  readonly card: (kind: 'group' | 'unreadable', number: number) => Promise<string>;
};

/** One of a format's files, and the contacts in it. */
type ContactFile = {
  readonly path: string;
  readonly contacts: () => AsyncIterable<Contact>;
  readonly texts: () => AsyncIterable<string>;
};

type Written = {
  readonly files: (staged: ContactsToWrite, count: number) => readonly ContactFile[];
  readonly about: (count: number) => readonly string[];
};

/** Gmail imports no more contacts at a time (support.google.com/contacts/answer/1069522). */
const GMAIL_AT_ONCE = 3_000;

const FORMATS: Record<Exclude<ContactsFormat, 'pst'>, Written> = {
  csv: {
    files: ({ contacts }, count) => [
      ...googleTables(count).map((name, at) => table(name, 'google', () => some(contacts(), at * GMAIL_AT_ONCE))),
      table('outlook.csv', 'outlook', contacts),
      table('outlook-com.csv', 'outlook-com', contacts),
    ],
    about: (count) => [
      'contacts/      Your contacts as tables for three programs, with all contacts for each.',
      '               Choose one. Import it as it is: do not open and save it in Excel first,',
      '               because Excel changes phone numbers, dates and letters with accents.',
      '  google.csv        Gmail. Go to contacts.google.com. Click Import, then Select',
      '                    file. Choose google.csv and click Import.',
      ...aboutGoogleTables(googleTables(count)),
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
    files: (staged) => [
      {
        path: `${FOLDER}/contacts.vcf`,
        contacts: () => staged.contacts(),
        texts: () => contactsAndGroups(staged),
      },
    ],
    about: (count) => [
      'contacts/      Your contacts in one file, contacts.vcf (vCard 3.0), with photos and',
      '               groups. Import it as it is.',
      ...(count <= GMAIL_AT_ONCE
        ? ['               Gmail: contacts.google.com, Import, Select file.']
        : [
            '               Gmail takes 3,000 contacts at a time, and you have more. Order your',
            '               contacts once more as CSV, which has them in pieces for Gmail.',
          ]),
      '               iPhone, iPad, Mac: open the file, then choose Add All Contacts.',
      '               Android: Contacts app, Settings, Import.',
      '               Thunderbird: Tools, Import, Import Address Books, vCard file.',
    ],
  },
};

function table(name: string, layout: CsvLayout, contacts: () => AsyncIterable<Contact>): ContactFile {
  return { path: `${FOLDER}/${name}`, contacts, texts: () => contactsCsv(contacts(), layout) };
}

function googleTables(count: number): string[] {
  const more = Math.max(0, Math.ceil(count / GMAIL_AT_ONCE) - 1);
  return ['google.csv', ...Array.from({ length: more }, (_, at) => `google-${at + 2}.csv`)];
}

function aboutGoogleTables(names: readonly string[]): string[] {
  const last = names.at(-1);
  if (last === undefined || names.length === 1) return [];
  const others = names.length === 2 ? last : `${names[1]} to ${last}`;
  return [
    '                    Gmail takes 3,000 contacts at a time, and you have more: do the',
    `                    same with ${others}.`,
  ];
}

/** As many as Gmail takes at a time. */
async function* some(contacts: AsyncIterable<Contact>, from: number): AsyncIterable<Contact> {
  let at = 0;
  for await (const contact of contacts) {
    if (at >= from) yield contact;
    at += 1;
    if (at === from + GMAIL_AT_ONCE) return;
  }
}

async function* contactsAndGroups(staged: ContactsToWrite): AsyncIterable<string> {
  yield* contactsVcf(staged.contacts());
  yield* groupsOf(staged);
}

async function* groupsOf(staged: ContactsToWrite): AsyncIterable<string> {
  const groups = await staged.countCards('group');
  for (let number = 1; number <= groups; number += 1) yield staged.card('group', number);
}

/** Lines for contacts in the same file as the mail, and for those in a file of their own. */
const AMONG_MAIL = ['               Your contacts are in the same file, in the folder Contacts.'];
const ALONE = [
  'contacts/      Your contacts as an Outlook data file. Classic Outlook for Windows: File >',
  '               Open & Export > Open Outlook Data File.',
];

const ABOUT_LISTS = [
  '',
  LISTS,
  '               Your lists just as they were (vCard 3.0), with addresses of people who are',
  '               not among your contacts. Your contacts have the names of their lists.',
];

type File = Pick<PartFileContent, 'path' | 'content'>;

export async function contactFiles(
  format: ContactsFormat,
  staged: ContactsToWrite,
  source: Scratch,
  mail: MailFormat,
): Promise<ContactFiles> {
  const count = await staged.count();
  const { entries, files, about } = writtenAs(format, staged, count, source, mail);
  const unreadable = await staged.countCards('unreadable');
  // In other formats, contacts have the names of their lists only.
  const hasLists = format !== 'vcf' && (await staged.countCards('group')) > 0;
  return {
    count,
    async *files() {
      yield* files();
      if (hasLists) yield { path: LISTS, content: () => octets(groupsOf(staged)) };
      for (let number = 1; number <= unreadable; number += 1)
        yield {
          path: `${UNREADABLE}/contact-${String(number).padStart(4, '0')}.vcf`,
          content: () => octets(one(() => staged.card('unreadable', number))),
        };
    },
    about: [...about, ...(hasLists ? ABOUT_LISTS : []), ...aboutUnreadable(unreadable)],
    entries,
  };
}

function writtenAs(
  format: ContactsFormat,
  staged: ContactsToWrite,
  count: number,
  source: Scratch,
  mail: MailFormat,
): {
  /** Known once the mail is written. */
  readonly entries: () => AsyncIterable<ContactEntry>;
  readonly files: () => AsyncIterable<File> | readonly never[];
  readonly about: readonly string[];
} {
  if (format === 'pst') {
    const { contactsPath } = mail;
    const contacts = () => staged.contacts();
    const entries = () => entriesOf([{ path: contactsPath?.() ?? `${FOLDER}/contacts.pst`, contacts }]);
    if (contactsPath !== undefined) return { entries, files: () => [], about: AMONG_MAIL };
    return { entries, files: () => contactsPst(source, contacts), about: ALONE };
  }
  const { files, about } = FORMATS[format];
  const all = files(staged, count);
  return {
    entries: () => entriesOf(all),
    async *files() {
      for (const { path, texts } of all) yield { path, content: () => octets(texts()) };
    },
    about: about(count),
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

async function* entriesOf(files: readonly Pick<ContactFile, 'path' | 'contacts'>[]): AsyncGenerator<ContactEntry> {
  for (const { path, contacts } of files) {
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
