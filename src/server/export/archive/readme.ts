import { counted } from '../../counted.ts';
import { readerPage } from '../page/reader-page.ts';
import type { ExportLimits } from '../staging/export-limits.ts';
import type { MailFormat } from '../staging/mail-format.ts';

/**
 * What was not handed out: listed messages, contacts, and whole folders; known with the last part. `manyContacts`: so
 * many could not be read that it is not known how many of them are missing. `allContacts`: none could be read, although
 * they were ordered.
 */
export type Left = {
  readonly messages: number;
  readonly contacts: number;
  readonly manyContacts: boolean;
  readonly allContacts: boolean;
  readonly folders: number;
};

type About = {
  readonly provider: string;
  readonly made: Date;
  readonly part: number;
  readonly isLast: boolean;
  readonly limits: Pick<ExportLimits, 'partOctets' | 'partMessages'>;
  readonly messages: number;
  readonly left: Left;
  readonly mailboxes: number;
  readonly mail: MailFormat;
  readonly hasContacts: boolean;
  readonly contacts?: { readonly count: number; readonly about: readonly string[] };
};

/** `README.txt`: plain text, for people who have never heard of any of this, with Windows line ends. */
export function readme({
  provider,
  made,
  part,
  isLast,
  limits,
  messages,
  left,
  mailboxes,
  mail,
  hasContacts,
  contacts,
}: About): string {
  const title = `${provider}: your mail${hasContacts ? ' and contacts' : ''}`;
  const pieces =
    part === 1 && isLast
      ? []
      : [
          `This is part ${part}${isLast ? ', the last one' : ''}. A large mailbox is split: no part holds more than`,
          `${size(limits.partOctets)} of mail or ${Math.min(limits.partMessages, mail.partMessages).toLocaleString('en-US')} messages. Each part opens by itself. You can extract`,
          'them all to one place, and their folders are combined. Each part has a README.txt,',
          'manifests and a SHA256SUMS of its own. Those of the part that you extract last stay.',
          '',
        ];
  const lines = [
    title,
    '='.repeat(title.length),
    '',
    `Made on ${DAY.format(made)}.`,
    `${counted(messages, 'message', 'messages')} in ${counted(mailboxes, 'folder', 'folders')}.`,
    ...(contacts === undefined ? [] : [`${counted(contacts.count, 'contact', 'contacts')}.`]),
    ...leftLines(left),
    '',
    ...pieces,
    'First of all, extract all files: on Windows, right-click the ZIP file and choose',
    '"Extract All". On a Mac, double-click it.',
    '',
    'What is in here',
    '---------------',
    `${readerPage(part).padEnd(14)} Open it by a double click: it lists, searches, shows and prints your`,
    '               messages in your browser, also without the internet. It needs the',
    '               folder "reader" beside it. It takes a computer: on phones and tablets',
    '               its list stays empty.',
    '',
    ...mail.about,
    '',
    ...(contacts === undefined ? [] : [...contacts.about, '']),
    'manifest.csv   A table of every message and contact, for a spreadsheet: the file',
    '               it is in, its mailbox, when it was received, flags, size, SHA-256.',
    'manifest.jsonl The same for programs: one JSON object in each line. Mailboxes have',
    '               the names there that the mail server gives them; the folders here',
    '               have names that Windows, macOS and Linux accept.',
    'SHA256SUMS     To check that all files are whole. Linux: sha256sum -c SHA256SUMS, macOS:',
    '               shasum -a 256 -c SHA256SUMS, Windows: certutil -hashfile FILE SHA256',
    '',
  ];
  return lines.join('\r\n');
}

function leftLines({ messages, contacts, manyContacts, allContacts, folders }: Left): string[] {
  const left = [
    ...(messages === 0 ? [] : [counted(messages, 'message', 'messages')]),
    ...(contacts === 0 ? [] : [counted(contacts, 'contact', 'contacts')]),
    ...(folders === 0 ? [] : [counted(folders, 'folder', 'folders')]),
  ];
  const whole = folders === 0 ? '' : ', or not all of it';
  return [
    ...(left.length === 0
      ? []
      : [`${EACH.format(left)} could not be exported${whole}. Your status page says which and why.`]),
    ...(manyContacts
      ? [
          'Very many of your contacts could not be read: they are not in here, or only just as they are. Your status page',
          'says which and why.',
        ]
      : []),
    ...(allContacts ? ['Your contacts could not be read and are not in here. Your status page says more.'] : []),
  ];
}

const EACH = new Intl.ListFormat('en-US');
const DAY = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'America/Los_Angeles' });

/** `4 GB`, `1.5 MB`: 1,000 MB are a GB, as disks are sold and macOS counts. */
function size(octets: number): string {
  const megabytes = octets / 1_000_000;
  return megabytes < 1000
    ? `${megabytes.toLocaleString('en-US')} MB`
    : `${(megabytes / 1000).toLocaleString('en-US')} GB`;
}
