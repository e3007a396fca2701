import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Contact } from '../../contacts/contact.ts';
import { safeName } from '../names/safe-name.ts';
import { writePst, type FolderRole, type PstFolder, type PstItem } from '../pst/write-pst.ts';
import type { MailFormat, PartFileContent, PartSource } from '../staging/mail-format.ts';
import type { MailboxName } from '../staging/staged.ts';

const ROLES: Readonly<Record<string, FolderRole>> = {
  '\\Inbox': 'inbox',
  '\\Sent': 'sent',
  '\\Drafts': 'drafts',
  '\\Trash': 'trash',
  '\\Junk': 'junk',
  '\\Archive': 'archive',
};

/** Messages in one file: the indexes of more would not fit in the memory that an export may use. */
const PART_MESSAGES = 500_000;

/** In octets; what makes a message larger than this are its attachments. */
const TEXT_AT_MOST = 64 * 1024;

/** What a file that is not written from front to back needs of its part. */
export type Scratch = Pick<PartSource, 'scratch' | 'id' | 'made' | 'signal'>;

type Start = { readonly path: string; readonly mailboxId: number; readonly number: number };

/** Outlook data files: all mailboxes of a part in one, with the contacts if they are to be in it. */
export function pst(): MailFormat {
  // A part whose file would be too large has several; where each begins is known only once they are written.
  const starts: Start[] = [];
  const pathOf = (mailboxId: number, number: number) =>
    starts.findLast((start) => start.mailboxId < mailboxId || (start.mailboxId === mailboxId && start.number <= number))
      ?.path ?? '';
  return {
    partMessages: PART_MESSAGES,
    // The file itself, and the archive that contains it; in the file, text is twice as large, and messages have
    // properties.
    room: ({ octets, messages }) => 2 * octets + 1.5 * Math.min(octets, messages * TEXT_AT_MOST) + 3000 * messages,
    label: () => '',
    files: (source) => mailFiles(source, starts),
    empty: () => undefined,
    place: ({ mailboxId, number }, _, index) => ({ path: pathOf(mailboxId, number), more: { index } }),
    contactsPath: () => starts.at(-1)?.path ?? '',
    about: [
      'mail/          Your mail as an Outlook data file, with all its folders. Classic Outlook',
      '               for Windows (the new Outlook has no such menu): File > Open & Export >',
      '               Open Outlook Data File. To have the messages in your own mailbox:',
      '               File > Open & Export > Import/Export. Messages whose form is broken have',
      '               their original with them, as an attachment.',
    ],
  };
}

async function* mailFiles(source: PartSource, starts: Start[]): AsyncGenerator<PartFileContent> {
  const { ledger, octets, part, isLast, provider, contacts, onWritten } = source;
  starts.length = 0;
  const mailboxes = await ledger.mailboxNames(part, isLast);
  const { folders, contactsFolder } = foldersOf(mailboxes, contacts !== undefined);
  const byId = new Map(mailboxes.map(({ mailboxId }, index) => [mailboxId, index]));
  let last = { mailboxId: 0, number: 0 };
  async function* items(): AsyncGenerator<PstItem> {
    for await (const message of ledger.messages(part)) {
      await onWritten(message.size);
      last = message;
      yield {
        folder: byId.get(message.mailboxId) ?? 0,
        size: message.size,
        source: () => octets(message),
        received: message.internalDate.getTime(),
        flags: message.flags,
      };
    }
    for await (const contact of contacts?.() ?? []) {
      last = { mailboxId: Number.MAX_SAFE_INTEGER, number: 0 };
      yield { folder: contactsFolder, contact, received: source.made.getTime() };
    }
  }
  const name = `${safeName(provider, 40) || 'Mail'}${part === 1 && isLast ? '' : ` part ${part}`}`;
  let begin = { mailboxId: 0, number: 0 };
  yield* inScratch(source, { name, folders, items: items() }, 'mail', (path) => {
    starts.push({ path, ...begin });
    // A file is known to be complete when the next item begins another one.
    begin = { mailboxId: last.mailboxId, number: last.number };
  });
}

/** Only contacts, beside mail in another format. */
export function contactsPst(source: Scratch, contacts: () => AsyncIterable<Contact>) {
  async function* items(): AsyncGenerator<PstItem> {
    for await (const contact of contacts()) yield { folder: 0, contact, received: source.made.getTime() };
  }
  const folders: PstFolder[] = [{ path: ['Contacts'], role: 'contacts' }];
  return inScratch(source, { name: 'contacts', folders, items: items() }, 'contacts', () => {});
}

/** A PST file is completed at its beginning, so it is in a temporary folder of its own until the archive has it. */
async function* inScratch(
  { scratch, id, made, signal }: Scratch,
  content: { readonly name: string; readonly folders: readonly PstFolder[]; readonly items: AsyncIterable<PstItem> },
  place: string,
  onWritten: (path: string) => void,
): AsyncGenerator<PartFileContent> {
  const directory = await mkdtemp(join(scratch, 'pst-'));
  try {
    for await (const { path } of writePst({ ...content, directory, id, signal })) {
      const inArchive = `${place}/${basename(path)}`;
      onWritten(inArchive);
      yield { path: inArchive, modified: made, grain: 0, content: () => createReadStream(path) };
      await rm(path, { force: true });
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** The mailboxes' folders in order, and then the one for contacts. No two are the same, whatever the server says. */
function foldersOf(
  mailboxes: readonly MailboxName[],
  hasContacts: boolean,
): { folders: PstFolder[]; contactsFolder: number } {
  const taken = new Set<string>();
  const roles = new Set<FolderRole>();
  const unique = (names: readonly string[]) => {
    for (let twin = 1; ; twin += 1) {
      const path = twin === 1 ? names : [...names.slice(0, -1), `${names.at(-1)} (${twin})`];
      const key = JSON.stringify(path.map((each) => each.toLowerCase()));
      if (taken.has(key)) continue;
      taken.add(key);
      return path;
    }
  };
  const folders = mailboxes.map(({ path, delimiter, specialUse }): PstFolder => {
    const [first = '_', ...below] = (delimiter === '' ? [path] : path.split(delimiter)).map(
      (each) => each.toWellFormed() || '_',
    );
    const role = ROLES[specialUse];
    // Outlook's name for the inbox, also if only a mailbox below it is listed.
    const names = [first.toUpperCase() === 'INBOX' ? 'Inbox' : first, ...below];
    const known = role === undefined || roles.has(role) ? {} : { role };
    if (role !== undefined) roles.add(role);
    return { path: unique(names), ...known };
  });
  if (hasContacts) folders.push({ path: unique(['Contacts']), role: 'contacts' });
  return { folders, contactsFolder: folders.length - 1 };
}
